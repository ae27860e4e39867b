import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { hashApiKey, keyIdOf } from '../../../../../functions/platform/keys.ts';
import { signQuery } from '../../../../../functions/router/admission/authenticate.ts';
import { createCoalescer } from '../../../../../functions/router/reuse.ts';
import { route } from '../../../../../functions/router/route.ts';
import { CONVERSION_LIMITS } from '../../../../../functions/shared/tool.ts';
import * as tools from '../../../../../functions/tools.ts';
import { createHttpServer } from '../../../../../infra/local/server/http/server.ts';
import { recordOf, unlimited } from '../../../../functions/accounts.ts';
import { KEPT_RESULTS } from '../../../../helpers/kept-results.ts';

const secret = hashApiKey('signing');
const id = keyIdOf(secret);
const expires = Math.floor(Date.now() / 1000) + 3600;
let invoked = 0;
const dependencies = {
  ...unlimited,
  tools: Object.values(tools),
  keys: {
    find: async () => undefined,
    findSigner: async (given: string) =>
      given === id ? { record: recordOf('owner', { id, kind: 'signing' }), secret } : undefined,
  },
  storage: {
    ...KEPT_RESULTS,
    grant: async () => ({ prefix: 'p/' }),
    url: async (objectKey: string) => `https://f/${objectKey}`,
  },
  invoke: async () => {
    invoked += 1;
    return { ok: true, objectKeys: [] } as const;
  },
  // Without uploads, POST and PUT would not exist.
  uploads: {} as never,
  coalesce: createCoalescer(),
  limits: CONVERSION_LIMITS,
  contact: { accountUrl: 'https://a/', supportUrl: 'https://s/' },
  log: () => {},
};
const { server } = createHttpServer({
  log: () => {},
  connections: 100,
  storage: undefined as never,
  texts: new Map(),
  route: (http, _base, signal) => route(http, dependencies, signal),
});
beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
afterAll(() => void server.close());

/** Sends a path as it is. */
function send(path: string, method = 'GET'): Promise<{ status: number; code: unknown; body: string }> {
  const { port } = server.address() as AddressInfo;
  return new Promise((resolve, reject) => {
    const sent = request({ port, path, method, agent: false }, async (response) => {
      const { statusCode: status = 0, headers } = response;
      resolve({ status, code: headers['x-error-code'], body: await text(response) });
    });
    sent.on('error', reject).end();
  });
}

const link = (options: Readonly<Record<string, string>> = {}) => {
  const query = {
    app: 'imageproc',
    infile: 'https://e.example/a b.png?x=1&y=2',
    outfile: 'a.jpg',
    ...options,
  };
  const pairs = Object.entries(query).map(([name, value]) => ({ name, value }));
  return signQuery(pairs, { id, secret, expires });
};

it('converts a signed link without a key', async () => {
  expect(await send(`/api/?${link()}`)).toMatchObject({ status: 200, code: undefined });
});

it('refuses a link with any one byte of its query changed, before a tool is invoked', async () => {
  const query = link({ _response: 'redirect' });
  invoked = 0;

  const replies = await Promise.all(
    Array.from(query, (character, at) => {
      const other = character === 'a' ? 'b' : 'a';
      return send(`/api/?${query.slice(0, at)}${other}${query.slice(at + 1)}`);
    }),
  );

  expect(new Set(replies.map(({ status, code }) => `${status} ${code}`))).toEqual(
    new Set(['403 INVALID_LINK']),
  );
  expect(invoked).toBe(0);
});

it.each([
  ['POST', '/api/', 403],
  ['PUT', '/api/a.png', 403],
  ['GET', '/api/usage', 403],
])('signs no %s to %s', async (method, path, status) => {
  expect((await send(`${path}?${link()}`, method)).status).toBe(status);
});

it('needs _args where the order of options matters, because sorting has lost it', async () => {
  const { status, body } = await send(`/api/?${link({ '-resize': '5x5', '-crop': '9x9' })}`);

  expect(status).toBe(400);
  expect(body).toContain('in one parameter: _args=-crop … -resize …');
  expect(await send(`/api/?${link({ _args: '-resize 5x5 -crop 9x9' })}`)).toMatchObject({ status: 200 });
});

it('may be kept with _cache, if the response is the file itself', async () => {
  // The server of this test has no files, so the reply of the router is what counts.
  const cacheOf = async (options: Readonly<Record<string, string>>) => {
    const query = [...new URLSearchParams(link(options))].map(([name, value]) => ({ name, value }));
    const http = { method: 'GET', path: '/api/', query, header: () => undefined };
    const reply = await route(http, dependencies, new AbortController().signal);
    expect(reply.status).toBeLessThan(400);
    return reply.headers['Cache-Control'];
  };

  expect(await cacheOf({ _cache: '600', _response: 'file' })).toMatch(/^public, max-age=(600|599)$/);
  expect(await cacheOf({ _cache: '82800', _response: 'file' })).toMatch(/^public, max-age=3[56]\d\d$/);
  for (const options of [{ _cache: '600' }, { _response: 'file' }, { _cache: '600', _response: 'redirect' }])
    expect(await cacheOf(options)).toBe('no-store');
});
