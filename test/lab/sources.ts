import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { numberSetting, textSetting } from '../../functions/shared/settings/environment.ts';

/** A source: its bytes, with the media type of its extension, or a function that responds. */
export type Source = Buffer | string | ((request: IncomingMessage, response: ServerResponse) => void);

export interface SourceServer {
  /** The `host:port` under which the service reaches it. */
  readonly host: string;
  /** Returns the URL of one of the sources. */
  urlOf(path: string): string;
  /** Requested paths, in order. */
  readonly asked: string[];
  close(): void;
}

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  svg: 'image/svg+xml',
  ttf: 'font/ttf',
};

/** Returns the `host:port` under which the service reaches a server on a loopback port, according to `SOURCES_HOST`. */
export function sourcesHost(port: number): string {
  // `{high}.{low}` is replaced with the port as two numbers, for networks with an address for every port.
  return textSetting('SOURCES_HOST', `127.0.0.1:${port}`)
    .replace('{high}', String(port >> 8))
    .replace('{low}', String(port & 255));
}

/**
 * Serves sources on loopback. `SOURCES_LISTEN`, `SOURCES_PORT` and `SOURCES_HOST` make them reachable for a
 * remote service.
 */
export async function serveSources(sources: Readonly<Record<string, Source>>): Promise<SourceServer> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://sources').pathname.slice(1));
    asked.push(path);
    const source = Object.hasOwn(sources, path) ? sources[path] : undefined;
    if (source === undefined) return void response.writeHead(404).end('nothing here');
    if (typeof source === 'function') return source(request, response);
    const type = TYPES[path.split('.').at(-1)!.toLowerCase()] ?? 'application/octet-stream';
    response.writeHead(200, { 'content-type': type, 'access-control-allow-origin': '*' }).end(source);
  });
  server.listen(
    numberSetting('SOURCES_PORT', 0, { min: 0, max: 65_535 }),
    textSetting('SOURCES_LISTEN', '127.0.0.1'),
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = sourcesHost(port);
  return {
    host,
    urlOf: (path) => `http://${host}/${path.split('/').map(encodeURIComponent).join('/')}`,
    asked,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
