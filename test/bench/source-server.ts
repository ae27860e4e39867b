import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { relative } from 'node:path';
import send from 'send';

export interface SourceServer {
  /** The exact `host:port` that the egress rules have to except. */
  readonly host: string;
  /** Address of a file below the folder. */
  addressOf(path: string): string;
  close(): void;
}

/** Serves the bench's inputs on a loopback port; nothing is to be kept by a browser. */
export async function serveSources(folder: string): Promise<SourceServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://sources').pathname;
    response.setHeader('Cache-Control', 'no-store');
    send(request, path, { root: folder, index: false, cacheControl: false })
      .on('error', () => response.writeHead(404).end())
      .pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const addressOf = (path: string) =>
    `http://${host}/${relative(folder, path).split('/').map(encodeURIComponent).join('/')}`;
  return { host, addressOf, close: () => server.close() };
}
