import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createHttpServer } from '../../../../../infra/local/server/http/server.ts';

let server: Server;

afterEach(() => {
  server.close();
});

/** Starts a server whose reply is the base URL that results would get. */
async function startEcho(publicUrl?: string): Promise<string> {
  ({ server } = createHttpServer({
    connections: 100,
    publicUrl,
    texts: new Map(),
    storage: undefined as never,
    route: async (_, base) => ({ status: 200, headers: {}, body: base }),
  }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('the base of result URLs', () => {
  it('is the host that the caller used', async () => {
    const origin = await startEcho();

    expect(await (await fetch(`${origin}/api/`)).text()).toBe(origin);
  });

  it('is PUBLIC_URL behind a proxy', async () => {
    const origin = await startEcho('https://convert.example.com');

    expect(await (await fetch(`${origin}/api/`)).text()).toBe('https://convert.example.com');
  });
});
