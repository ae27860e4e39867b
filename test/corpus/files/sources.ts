import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import send from 'send';
import { sourcesHost } from '../../service/server/sources.ts';

export interface FolderServer {
  /** The `host:port` that the egress guard must allow. */
  readonly host: string;
  urlOf(name: string): string;
  close(): void;
}

/** Serves a folder on a loopback port, read only. */
export async function serveFolder(folder: string): Promise<FolderServer> {
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://sources').pathname;
    send(request, path, { root: folder, index: false, dotfiles: 'allow' })
      .on('headers', (reply) => {
        // The page itself declares its encoding.
        if (/\.html?$/i.test(path)) reply.setHeader('content-type', 'text/html');
      })
      .on('error', () => response.writeHead(404).end())
      .pipe(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = sourcesHost((server.address() as AddressInfo).port);
  return {
    host,
    urlOf: (name) => `http://${host}/${name.split('/').map(encodeURIComponent).join('/')}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
