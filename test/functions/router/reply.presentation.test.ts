import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { beforeEach, describe, expect, it } from 'vitest';
import type { InvocationResult } from '../../../functions/platform/invoke.ts';
import type { Storage } from '../../../functions/platform/storage.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { tiny } from '../tiny-tool.ts';
import { headerOf } from './header.ts';

const GOOD = { apikey: 'KEY', app: 'tiny', infile: 'https://example.org/a.png', outfile: 'b.png' };

let result: InvocationResult;
let lines: { event: string; code: unknown }[];
beforeEach(() => {
  lines = [];
  result = { ok: true, objectKeys: ['PREFIXb.png'], stored: [{ bytes: 7 }], pageCount: 3 };
});

function call(
  query: Record<string, string> = GOOD,
  accept?: string,
  open?: Storage['open'],
  removed: string[] = [],
) {
  const dependencies: Dependencies = {
    ...unlimited,
    tools: [tiny],
    keys: {
      find: async (apiKey) => (apiKey === 'KEY' ? recordOf('owner') : undefined),
      findSigner: async () => undefined,
    },
    storage: {
      urlLifetime: 60,
      ...KEPT_RESULTS,
      grant: async (request) => ({ ...request }),
      url: async (objectKey) => `https://files.example/${objectKey}`,
      remove: async ({ objectKey }) => void removed.push(objectKey),
      ...(open && { open }),
    },
    invoke: async ({ grant }) =>
      result.ok
        ? {
            ...result,
            objectKeys: result.objectKeys.map((key) => key.replace('PREFIX', String(grant.prefix))),
          }
        : result,
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: (event, facts) => lines.push({ event, code: facts?.code }),
  };
  const pairs = Object.entries(query).map(([name, value]) => ({ name, value }));
  const header = headerOf({ 'x-request-id': 'id-1', ...(accept !== undefined && { accept }) });
  return route(
    { method: 'GET', path: '/api/', query: pairs, header },
    dependencies,
    new AbortController().signal,
  );
}

it('deletes a result with _keep=0 once it has been sent', async () => {
  const removed: string[] = [];
  const open = async () => ({ headers: {}, content: Readable.from(['content']) });
  const query = { ...GOOD, _keep: '0' };

  const { body } = await call({ ...query, _response: 'file' }, undefined, open, removed);
  const before = removed.length;
  expect(await text(body as Readable)).toBe('content');

  expect(before).toBe(0);
  expect(removed).toEqual([expect.stringMatching(/^once\/[0-9a-f]{32}\/b\.png$/)]);
  expect((await call(query, undefined, open)).body).toContain("'_keep=0' requires '_response=file'");
});

it('redirects to a file that only its URL can deliver in time, and lets nobody keep that', async () => {
  const reply = await call({ ...GOOD, _response: 'file', _cache: '60' }, undefined, async () => undefined);

  expect(reply).toMatchObject({ status: 303, headers: { 'Cache-Control': 'no-store' } });
  expect(reply.headers.Location).toMatch(/^https:\/\/files\.example\/.*b\.png$/);
});

describe('JSON', () => {
  it('names the results, what is known about them, and ignored options', async () => {
    result = {
      ok: true,
      objectKeys: ['PREFIXp-1.png', 'PREFIXp-2.png'],
      stored: [
        { bytes: 7, page: 1 },
        { bytes: 8, page: 2 },
      ],
      pageCount: 2,
      settled: false,
      warnings: ['The image is truncated.'],
    };

    const query = { ...GOOD, outfile: 'p-%d.png', '-verbose': '' };
    const { status, headers, body } = await call(query, 'application/json');

    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'Content-Type': 'application/json; charset=utf-8',
      'X-Page-Count': '2',
      'Cache-Control': 'no-store',
    });
    const { outputs, ...facts } = JSON.parse(String(body));
    expect(facts).toEqual({
      pageCount: 2,
      ignored: ['-verbose'],
      settled: false,
      warnings: ['The image is truncated.'],
      requestId: 'id-1',
    });
    expect(outputs).toEqual(
      [1, 2].map((page) => ({
        url: expect.stringMatching(new RegExp(`^https://files\\.example/[0-9a-f]{32}/p-${page}\\.png$`)),
        name: `p-${page}.png`,
        contentType: 'image/png',
        bytes: 6 + page,
        page,
        expires: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      })),
    );
    expect(Date.parse(outputs[0].expires) - Date.now()).toBeGreaterThan(50_000);
  });

  it('lists every mistake of a problem', async () => {
    const { status, headers, body } = await call(
      { ...GOOD, '-copies': 'x', '-grya': '' },
      'application/json',
    );

    expect(status).toBe(400);
    expect(headers).toMatchObject({
      'Content-Type': 'application/problem+json; charset=utf-8',
      'X-Error-Code': 'UNKNOWN_PARAMETER',
    });
    expect(JSON.parse(String(body))).toEqual({
      type: 'about:blank',
      title: 'the tool has no such option; the message suggests a similar name',
      status: 400,
      detail: expect.stringMatching(/'-grya'.*'-copies'/),
      code: 'UNKNOWN_PARAMETER',
      errors: [
        {
          code: 'UNKNOWN_PARAMETER',
          detail: expect.stringMatching(/^Unknown option '-grya'/),
          parameter: '-grya',
        },
        { code: 'BAD_PARAMETER', detail: expect.stringMatching(/'-copies'/), parameter: '-copies' },
      ],
      requestId: 'id-1',
    });
  });

  it('reports an error of the conversion', async () => {
    result = { ok: false, error: { code: 'CORRUPT_SOURCE', message: 'The document is damaged.' } };

    const { status, body } = await call(GOOD, 'application/json');

    expect(status).toBe(422);
    expect(JSON.parse(String(body))).toMatchObject({
      detail: 'The document is damaged.',
      errors: [{ code: 'CORRUPT_SOURCE', detail: 'The document is damaged.', parameter: 'infile' }],
    });
  });

  it('reports a wrong key with status 401', async () => {
    const { status, headers, body } = await call({ ...GOOD, apikey: 'WRONG' }, 'application/json');

    expect(status).toBe(401);
    expect(headers).toHaveProperty('WWW-Authenticate');
    expect(JSON.parse(String(body))).toMatchObject({ code: 'INVALID_KEY', status: 401 });
  });

  it.each([
    'application/json',
    'text/html, Application/JSON;q=0.9',
    'application/problem+json',
    'application/json; charset=utf-8',
  ])('is returned for %j', async (accept) => {
    expect((await call(GOOD, accept)).body).toMatch(/^\{/);
  });

  it.each([
    undefined,
    '',
    '*/*',
    'application/*',
    'application/jsonl',
    'text/plain',
    'application/json;q=0',
    'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  ])('is not returned for %j, as the specification says', async (accept) => {
    const { headers, body } = await call(GOOD, accept);

    expect(headers['Content-Type']).toBe('text/plain; charset=utf-8');
    expect(body).toMatch(/^\[Output\] https:\/\/files\.example\/[0-9a-f]{32}\/b\.png<br>$/);
  });
});

describe('_response', () => {
  it('sends the result itself', async () => {
    const reply = await call({ ...GOOD, _response: 'file' });

    expect(reply.status).toBe(200);
    expect(String(reply.body)).toMatch(/^https:\/\/files\.example\/[0-9a-f]{32}\/b\.png$/);
    expect(reply.headers).toMatchObject({ 'X-Page-Count': '3', 'X-Request-Id': 'id-1' });
  });

  it('sends the result with the headers that it is stored with', async () => {
    const content = Readable.from(['content']);
    const headers = { 'Content-Type': 'image/png', 'Content-Length': '7' };

    const reply = await call({ ...GOOD, _response: 'file' }, undefined, async () => ({ headers, content }));

    expect(reply).toMatchObject({ status: 200, body: content, headers: { ...headers, 'X-Page-Count': '3' } });
    expect(lines).toEqual([{ event: 'call', code: 'OK' }]);
  });

  it('is an error, also in the log, if the result cannot be read', async () => {
    const { status, body } = await call({ ...GOOD, _response: 'file' }, undefined, async () => {
      throw new Error('NoSuchKey');
    });

    expect([status, body]).toEqual([500, '[ERROR] Internal error. It has been logged. (INTERNAL)']);
    expect(lines.at(-1)).toEqual({ event: 'call', code: 'INTERNAL' });
  });

  it('redirects to the result', async () => {
    const { status, headers, body } = await call({ ...GOOD, _response: 'redirect' });

    expect([status, body]).toEqual([303, '']);
    expect(headers.Location).toMatch(/^https:\/\/files\.example\/[0-9a-f]{32}\/b\.png$/);
  });

  it('changes nothing as text', async () => {
    const { headers, body } = await call({ ...GOOD, _response: 'text' });

    expect(headers['Content-Type']).toBe('text/plain; charset=utf-8');
    expect(body).toMatch(/^\[Output\] /);
  });

  it.each(['file', 'redirect'])('%s is for a single file', async (_response) => {
    const { status, body } = await call({ ...GOOD, outfile: 'p-%d.png', _response });

    expect(status).toBe(400);
    expect(body).toContain('pages.png.zip');
  });

  it('must be one of three values', async () => {
    const { body } = await call({ ...GOOD, _response: 'json' });

    expect(body).toBe(
      "[ERROR] Parameter '_response' must be one of text, file, redirect, got 'json'. (BAD_PARAMETER)",
    );
  });

  it.each(['file', 'redirect'])('%s reports a wrong key with status 401', async (_response) => {
    const { status, body } = await call({ ...GOOD, apikey: 'WRONG', _response });

    expect(status).toBe(401);
    expect(body).toMatch(/^\[ERROR\] Please provide a valid APIKEY\. /);
  });

  it('is not part of an unencoded infile', async () => {
    const { status } = await call({
      ...GOOD,
      infile: 'https://example.org/?a',
      b: 'c',
      _response: 'redirect',
    });

    expect(status).toBe(303);
  });
});
