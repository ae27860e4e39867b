import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll } from 'vitest';
import { allowPorts } from './conversion.ts';

/** Serves files to shared engines, and returns the URL of each. */
export async function serveFiles(files: Readonly<Record<string, Buffer>>): Promise<(name: string) => string> {
  const server = createServer((request, response) => {
    const file = files[decodeURIComponent(request.url ?? '').slice(1)];
    response.writeHead(file ? 200 : 404).end(file);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  afterAll(() => server.close());
  allowPorts(port);
  return (name) => `http://127.0.0.1:${port}/${encodeURIComponent(name)}`;
}
