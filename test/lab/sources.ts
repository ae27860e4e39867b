import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import send from 'send';
import { numberSetting, textSetting } from '../../functions/shared/settings/environment.ts';

/** Either its bytes, with the media type of its extension, or a function that responds. */
export type Source = Buffer | string | ((request: IncomingMessage, response: ServerResponse) => void);

export interface SourceServer {
  readonly port: number;
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
  js: 'text/javascript',
  json: 'application/json',
  csv: 'text/csv',
};

/** Returns the `host:port` under which the service reaches a server on a loopback port, according to `SOURCES_HOST`. */
function sourcesHost(port: number): string {
  // `{high}.{low}` is replaced with the port as two numbers, for networks with an address for every port.
  return textSetting('SOURCES_HOST', `127.0.0.1:${port}`)
    .replace('{high}', String(port >> 8))
    .replace('{low}', String(port & 255));
}

/** Serves sources on loopback, by their paths. */
export async function serveSources(
  sources: Readonly<Record<string, Source>> | ((path: string) => Promise<Source | undefined>),
  headers: Readonly<Record<string, string>> = {},
): Promise<SourceServer> {
  const find =
    typeof sources === 'function'
      ? sources
      : async (path: string) => (Object.hasOwn(sources, path) ? sources[path] : undefined);
  return serve(async (request, response) => {
    const path = pathOf(request);
    const source = await find(path).catch(() => undefined);
    if (source === undefined) return void response.writeHead(404).end('nothing here');
    if (typeof source === 'function') return source(request, response);
    const type = TYPES[path.split('.').at(-1)!.toLowerCase()] ?? 'application/octet-stream';
    const own = { 'content-type': type, 'access-control-allow-origin': '*', ...headers };
    response.setHeaders(new Map(Object.entries(own))).end(source);
  });
}

/** Serves a folder, read only and piece by piece. */
export function serveFolder(folder: string): Promise<SourceServer> {
  return serve((request, response) => {
    const path = new URL(request.url ?? '/', 'http://sources').pathname;
    send(request, path, { root: folder, index: false, dotfiles: 'allow' })
      .on('headers', (reply) => {
        // The page itself declares its encoding.
        if (/\.html?$/i.test(path)) reply.setHeader('content-type', 'text/html');
      })
      .on('error', () => response.writeHead(404).end())
      .pipe(response);
  });
}

/** Listens on loopback. `SOURCES_LISTEN`, `SOURCES_PORT` and `SOURCES_HOST` make the sources reachable for a remote service. */
async function serve(answer: RequestListener): Promise<SourceServer> {
  const asked: string[] = [];
  const server = createServer(answer).on('request', (request) => asked.push(pathOf(request)));
  server.listen(
    numberSetting('SOURCES_PORT', 0, { min: 0, max: 65_535 }),
    textSetting('SOURCES_LISTEN', '127.0.0.1'),
  );
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const host = sourcesHost(port);
  return {
    port,
    host,
    asked,
    urlOf: (path) => `http://${host}/${path.split('/').map(encodeURIComponent).join('/')}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function pathOf(request: IncomingMessage): string {
  return decodeURIComponent(new URL(request.url ?? '/', 'http://sources').pathname.slice(1));
}
