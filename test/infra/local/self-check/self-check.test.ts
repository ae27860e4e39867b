import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { SAMPLES } from '../../../../infra/local/self-check/samples.ts';
import { type CheckRow, selfCheck } from '../../../../infra/local/self-check/self-check.ts';

let server: Server;
afterEach(() => server.close());

/** Checks a service that returns the URL for every call. */
async function check(url: string) {
  const asked: string[] = [];
  server = createServer((request, response) => {
    asked.push(request.url!);
    if (request.url!.startsWith('/api/')) return void response.end(`[Output] ${url}<br>`);
    response.writeHead(request.url === '/files/1/page.png?signature=a' ? 200 : 404).end('a result');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rows: CheckRow[] = [];
  const passed = await selfCheck({ origin: base, samples: '127.0.0.1:1', apiKey: 'KEY' }, (row) =>
    rows.push(row),
  );
  return { passed, rows, asked };
}

it('downloads results from this server, although their URLs name a proxy that does not respond', async () => {
  const url = 'https://convert.invalid/files/1/page.png?signature=a';
  const { passed, rows, asked } = await check(url);

  expect(passed).toBe(true);
  expect(rows.map(({ answer, bytes }) => [answer, bytes])).toEqual(Array(SAMPLES.length).fill([url, 8]));
  expect(asked.filter((path) => path.startsWith('/files/'))).toHaveLength(SAMPLES.length);
});

it('fails if a result cannot be downloaded', async () => {
  expect((await check('https://convert.invalid/files/2/page.png')).passed).toBe(false);
});
