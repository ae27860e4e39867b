import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { createReadValidators } from '../../../../functions/shared/source/download.ts';
import { type Listening, serveHttp } from '../../../helpers/fault-server.ts';

const servers: Listening[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function validatorsOf(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = await serveHttp(answer);
  servers.push(server);
  const read = createReadValidators(createEgressGuard({ exceptions: [`127.0.0.1:${server.port}`] }));
  return read(`${server.origin}/a`, { account: 'one', signal: new AbortController().signal });
}

const sending = (headers: Readonly<Record<string, string>>, status = 200) =>
  validatorsOf((_request, response) => void response.writeHead(status, headers).end());

it('are the same while ETag, Last-Modified and length are', async () => {
  const headers = { etag: '"a"', 'last-modified': 'Tue, 24 Nov 2026 00:00:00 GMT', 'content-length': '5' };

  const first = await sending(headers);

  expect(first).toMatch(/^[0-9a-f]{64}$/);
  expect(await sending({ ...headers, date: 'now', server: 'another' })).toBe(first);
  for (const [name, value] of [
    ['etag', '"b"'],
    ['last-modified', 'Wed'],
    ['content-length', '6'],
  ] as const)
    expect(await sending({ ...headers, [name]: value })).not.toBe(first);
});

it('are read with HEAD, also after a redirect', async () => {
  const asked: string[] = [];

  const found = await validatorsOf((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (request.url === '/a') response.writeHead(302, { location: '/b' });
    else response.setHeader('etag', '"b"');
    response.end();
  });

  expect(found).toMatch(/^[0-9a-f]{64}$/);
  expect(asked).toEqual(['HEAD /a', 'HEAD /b']);
});

it.each([
  ['without any', {}, 200],
  ['that refuses HEAD', { etag: '"a"' }, 405],
  ['that redirects to an address that is not public', { location: 'http://127.0.0.1:9/' }, 302],
])('do not exist for a source %s', async (_, headers, status) => {
  expect(await sending(headers as Record<string, string>, status)).toBeUndefined();
});

it('do not exist for a source that does not answer', async () => {
  expect(await validatorsOf((request) => void request.socket.destroy())).toBeUndefined();
});
