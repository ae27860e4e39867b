import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join, relative } from 'node:path';

export interface SourceServer {
  /** The `host:port` that the egress rules must allow. */
  readonly host: string;
  /** Returns the URL of a file below the folder. */
  urlOf(path: string): string;
  close(): void;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

/** Serves the inputs on a loopback port, from memory after the first read. Browsers must not cache them. */
export async function serveSources(folder: string): Promise<SourceServer> {
  const files = new Map<string, Buffer>();
  const readOnce = (path: string): Buffer => {
    const bytes = files.get(path) ?? readFileSync(join(folder, path));
    files.set(path, bytes);
    return bytes;
  };
  const server = createServer((request, response) => {
    try {
      const path = decodeURIComponent(new URL(request.url ?? '/', 'http://sources').pathname);
      const bytes = readOnce(path);
      const type = TYPES[extname(path)] ?? 'application/octet-stream';
      response.writeHead(200, {
        'Content-Type': type,
        'Content-Length': bytes.length,
        'Cache-Control': 'no-store',
      });
      response.end(bytes);
    } catch {
      response.writeHead(404).end();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const urlOf = (path: string) =>
    `http://${host}/${relative(folder, path).split('/').map(encodeURIComponent).join('/')}`;
  return { host, urlOf, close: () => server.close() };
}
