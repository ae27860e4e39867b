import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { ConversionRequest } from '../../../functions/conversion/request.ts';
import type { Invocation, InvocationResult } from '../../../functions/platform/invoke.ts';
import { createMemoryCache } from '../../../functions/platform/result-cache.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { cacheHeaders, createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { tiny, tinyPage } from '../tiny-tool.ts';
import { headerOf } from './header.ts';

let invocations: Invocation[];
let validators: string | undefined;
let lines: Record<string, unknown>[];
let dependencies: Dependencies;

beforeEach(() => {
  invocations = [];
  validators = 'a'.repeat(64);
  lines = [];
  dependencies = {
    ...unlimited,
    tools: [tiny, tinyPage],
    keys: { find: async (apiKey) => recordOf(apiKey), findSigner: async () => undefined },
    storage: {
      ...KEPT_RESULTS,
      grant: async (request) => ({ ...request }),
      url: async (objectKey) => `https://f.example/${objectKey}`,
    },
    invoke: async (invocation): Promise<InvocationResult> => {
      invocations.push(invocation);
      const { validate, grant } = invocation;
      if (validate?.known !== undefined && validate.known === validators)
        return { ok: true, objectKeys: [], unchanged: true };
      const found = validate && validators !== undefined ? { validators } : {};
      return { ok: true, objectKeys: [`${grant.prefix}b.png`], pageCount: 3, ...found };
    },
    resultCache: createMemoryCache(),
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: (event, facts) => lines.push({ event, ...facts }),
  };
});

const QUERY = { app: 'tiny', infile: 'https://e.example/a.png', outfile: 'b.png', _cache: '60' };

async function ask(changes: Readonly<Record<string, string>> = {}, apikey = 'KEY') {
  const query = Object.entries({ ...QUERY, ...changes, apikey }).map(([name, value]) => ({ name, value }));
  const request = { method: 'GET', path: '/api/', query, header: headerOf({}) };
  const { status, headers, body } = await route(request, dependencies, new AbortController().signal);
  return { status, body, cache: headers['X-Cache'], pages: headers['X-Page-Count'] };
}

describe('a request with _cache', () => {
  it('gets the result of the same request while the validators of the source are the same', async () => {
    const first = await ask();
    const second = await ask();
    const redirected = await ask({ _response: 'redirect' });
    validators = 'b'.repeat(64);
    const changed = await ask();

    expect([first, second, redirected, changed].map(({ cache }) => cache)).toEqual([
      'miss',
      'hit',
      'hit',
      'miss',
    ]);
    expect(second).toEqual({ ...first, cache: 'hit' });
    expect(changed.body).not.toBe(first.body);
    expect(lines.filter(({ event }) => event === 'call').map(({ cache }) => cache)).toEqual([
      'miss',
      'hit',
      'hit',
      'miss',
    ]);
  });

  it('invokes no tool if the source has no validators', async () => {
    validators = undefined;

    const asked = [await ask(), await ask(), await ask()];

    expect(asked.map(({ cache }) => cache)).toEqual(['miss', 'hit', 'hit']);
    expect(invocations).toHaveLength(1);
  });

  it('gets no result that is older', async () => {
    await ask();
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 61_000);

    const [later, longer] = [await ask(), await ask({ _cache: '100' })];

    vi.restoreAllMocks();
    expect([later.cache, longer.cache]).toEqual(['miss', 'hit']);
  });

  it.each([
    ['option', { '-copies': '2' }],
    ['source', { infile: 'https://e.example/b.png' }],
    ['name', { outfile: 'c.png' }],
    ['tool', { app: 'tinypage', outfile: 'b.pdf' }],
  ])('does not reuse a result when the %s differs', async (_, changes) => {
    await ask();

    expect((await ask(changes)).cache).not.toBe('hit');
  });

  it('gets no result of another account', async () => {
    await ask();

    expect((await ask({}, 'OTHER')).cache).toBe('miss');
  });

  it('gets no result of a conversion that failed', async () => {
    const { invoke } = dependencies;
    const error = { code: 'CORRUPT_SOURCE', message: 'Damaged.' } as const;
    dependencies = { ...dependencies, invoke: async () => ({ ok: false, error }) };
    const failed = await ask();
    dependencies = { ...dependencies, invoke };

    expect([failed.status, (await ask()).cache]).toEqual([422, 'miss']);
  });

  it('is converted if the cache fails, which is logged', async () => {
    const broken = async () => {
      throw new Error('broken');
    };
    dependencies = { ...dependencies, resultCache: { get: broken, put: broken } };

    expect(await ask()).toMatchObject({ status: 200, cache: 'miss' });
    expect(lines.filter(({ event }) => event === 'result cache failed')).toHaveLength(2);
  });

  it.each(['0', '82801', '1h', '-1', '', '1.5'])('may not be %j seconds', async (_cache) => {
    const { status, body } = await ask({ _cache });

    expect(status).toBe(400);
    expect(body).toContain("'_cache' must be an integer from 1 to 82800");
  });
});

describe('the file of a signed link', () => {
  const NOW = 1_800_000_000_000;
  const request = { response: 'file', cache: 600 } as ConversionRequest;
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    [600, { linkExpiry: NOW / 1000 + 900 }],
    [300, { linkExpiry: NOW / 1000 + 300 }],
    [200, { linkExpiry: NOW / 1000 + 900, created: NOW - 400_000 }],
  ])('may be kept for %i seconds', (seconds, facts) => {
    expect(cacheHeaders(request, facts)).toEqual({ 'Cache-Control': `public, max-age=${seconds}` });
  });

  it.each<[string, Partial<ConversionRequest>, Parameters<typeof cacheHeaders>[1]]>([
    ['another request', {}, {}],
    ['a link without _cache', { cache: 0 }, { linkExpiry: NOW / 1000 + 900 }],
    ['a response that names the result', { response: 'text' }, { linkExpiry: NOW / 1000 + 900 }],
    ['a redirect to the result', { response: 'redirect' }, { linkExpiry: NOW / 1000 + 900 }],
    ['a link that ends now', {}, { linkExpiry: NOW / 1000 }],
  ])('is unlike %s, which may not be kept', (_, given, facts) => {
    expect(cacheHeaders({ ...request, ...given }, facts)).toEqual({});
  });
});

it('has no X-Cache without _cache, and does not use what others keep', async () => {
  await ask();
  const { _cache: _, ...query } = QUERY;
  const pairs = Object.entries({ ...query, apikey: 'KEY' }).map(([name, value]) => ({ name, value }));

  const request = { method: 'GET', path: '/api/', query: pairs, header: headerOf({}) };
  const { headers } = await route(request, dependencies, new AbortController().signal);

  expect(headers['X-Cache']).toBeUndefined();
  expect(invocations).toHaveLength(2);
  expect(invocations[1]!.validate).toBeUndefined();
});
