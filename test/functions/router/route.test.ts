import { beforeEach, describe, expect, it } from 'vitest';
import type { Invocation, InvocationResult } from '../../../functions/platform/invoke.ts';
import { diskFullError } from '../../../functions/platform/local/disk-space.ts';
import type { GrantRequest } from '../../../functions/platform/storage.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import type { HttpRequest } from '../../../functions/router/http.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { ConversionError, type ErrorReport } from '../../../functions/shared/errors.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { tiny } from '../tiny-tool.ts';
import { headerOf } from './header.ts';

const GOOD = {
  apikey: 'KEY',
  app: 'tiny',
  infile: 'https://example.org/a.png?token=secret',
  outfile: 'b.png',
};

let invocations: Invocation[];
let granted: GrantRequest[];
let events: unknown[];
let dependencies: Dependencies;

beforeEach(() => {
  invocations = [];
  granted = [];
  events = [];
  dependencies = {
    ...unlimited,
    tools: [tiny],
    keys: {
      find: async (apiKey) => (apiKey === 'KEY' ? recordOf('owner') : undefined),
      findSigner: async () => undefined,
    },
    storage: {
      ...KEPT_RESULTS,
      grant: async (request) => {
        granted.push(request);
        return { ...request };
      },
      url: async (objectKey) => `https://files.example/${objectKey}?signed`,
    },
    invoke: async (invocation) => {
      invocations.push(invocation);
      return { ok: true, objectKeys: [`${invocation.grant.prefix}b.png`], pageCount: 3 };
    },
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: (event, facts) => events.push({ event, facts }),
  };
});

function call(
  query: Record<string, string> = GOOD,
  http: Partial<HttpRequest> = {},
  signal = new AbortController().signal,
) {
  const pairs = Object.entries(query).map(([name, value]) => ({ name, value }));
  return route(
    { method: 'GET', path: '/api/', query: pairs, header: () => undefined, ...http },
    dependencies,
    signal,
  );
}

function answering(answer: () => Promise<InvocationResult>): void {
  dependencies = { ...dependencies, invoke: answer };
}

/** Delays invocations until so many calls could have joined one. */
function invokeOnceJoined(calls: number): void {
  const { coalesce, invoke } = dependencies;
  const haveJoined = Promise.withResolvers<void>();
  let joined = 0;
  dependencies = {
    ...dependencies,
    coalesce: (...args) => {
      joined += 1;
      if (joined === calls) haveJoined.resolve();
      return coalesce(...args);
    },
    invoke: async (...args) => {
      await haveJoined.promise;
      return invoke(...args);
    },
  };
}

describe('a call that fails', () => {
  const kept: unknown[] = [];
  const failures = {
    record: async (failure: object) => void kept.push(failure),
    recent: async () => [],
    erase: async () => 0,
  };
  beforeEach(() => {
    kept.length = 0;
    dependencies = { ...dependencies, failures };
  });

  it('is kept for its account with code, tool and request ID, and nothing about the document', async () => {
    answering(async () => ({ ok: false, error: { code: 'TIMED_OUT', message: 'https://secret.example/' } }));
    await call(GOOD, { header: (name) => (name === 'x-request-id' ? 'mine' : undefined) });
    await call({ ...GOOD, app: 'unknown' });

    expect(kept).toEqual([
      { account: 'owner', time: expect.any(Number), code: 'TIMED_OUT', tool: 'tiny', requestId: 'mine' },
      { account: 'owner', time: expect.any(Number), code: 'UNKNOWN_APP', requestId: expect.any(String) },
    ]);
  });

  it('is not kept if it succeeds, has no key, or was not admitted', async () => {
    const { limiter } = dependencies;
    await call();
    await call({ ...GOOD, apikey: 'WRONG' });
    dependencies = {
      ...dependencies,
      limiter: {
        ...limiter,
        admit: async () => ({ admitted: false, used: { short: 1, month: 1 }, exceeded: 'perShortWindow' }),
      },
    };
    await call();

    expect(kept).toEqual([]);
  });
});

describe('a source that returns an error status', () => {
  const failing = async (infile: string, parameter?: string) => {
    const error: ErrorReport = {
      code: 'SOURCE_STATUS',
      message: 'The source server returned status 403.',
      ...(parameter !== undefined && { parameter }),
    };
    dependencies = { ...dependencies, invoke: async () => ({ ok: false, error }) };
    const query = [...new URLSearchParams(`apikey=KEY&app=tiny&outfile=b.png&infile=${infile}`)];
    const pairs = query.map(([name, value]) => ({ name, value }));
    const request = { method: 'GET', path: '/api/', query: pairs, header: () => undefined };
    return (await route(request, dependencies, new AbortController().signal)).body;
  };

  it('is explained if its URL has unencoded parameters', async () => {
    expect(await failing('https://e.example/a.png?expires=1&sig=2')).toBe(
      "[ERROR] The source server returned status 403. 'infile' was not percent-encoded, so its query parameters may have been reordered or respelled. Encode it. (SOURCE_STATUS)",
    );
  });

  it('reports only the status for an encoded URL', async () => {
    expect(await failing(encodeURIComponent('https://e.example/a.png?expires=1&sig=2'))).toBe(
      '[ERROR] The source server returned status 403. (SOURCE_STATUS)',
    );
  });

  it('is not explained by the source if it is another file', async () => {
    expect(await failing('https://e.example/a.png?expires=1&sig=2', '-composite')).toBe(
      '[ERROR] The source server returned status 403. (SOURCE_STATUS)',
    );
  });
});

describe('a conversion', () => {
  it('returns the URL of its result', async () => {
    const { status, headers, body } = await call();

    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'X-Page-Count': '3' });
    expect(body).toMatch(/^\[Output\] https:\/\/files\.example\/[0-9a-f]{32}\/b\.png\?signed<br>$/);
  });

  it('gets a grant for one unguessable prefix', async () => {
    await call();
    await call();

    expect(granted).toMatchObject([
      {
        contentType: 'image/png',
        maxBytes: CONVERSION_LIMITS.resultBytes,
        prefix: expect.stringMatching(/^[0-9a-f]{32}\/$/),
      },
      {},
    ]);
    expect(granted[0]!.prefix).not.toBe(granted[1]!.prefix);
    expect(granted[0]!.lifetime).toBeGreaterThan(CONVERSION_LIMITS.conversionTime);
  });

  it('passes everything that the tool needs, without the key', async () => {
    await call({ ...GOOD, '-copies': '4' });

    expect(invocations[0]).toMatchObject({
      tool: 'tiny',
      account: 'owner',
      source: GOOD.infile,
      options: { copies: 4 },
    });
    expect(JSON.stringify(invocations)).not.toContain('KEY');
    expect(JSON.parse(JSON.stringify(invocations[0]))).toMatchObject({ format: 'png' });
  });

  it('treats /api like /api/', async () => {
    expect((await call(GOOD, { path: '/api' })).status).toBe(200);
  });

  it('runs once for identical concurrent requests, and again for later ones', async () => {
    invokeOnceJoined(3);

    // A caller may use the same ID for several requests.
    const named = { header: headerOf({ 'x-request-id': 'mine' }) };
    const bodies = await Promise.all([call(GOOD, named), call(GOOD, named), call(GOOD, named)]);
    await call();

    expect(invocations).toHaveLength(2);
    expect(new Set(bodies.map(({ body }) => body)).size).toBe(1);
    const shared = events.map((event) => (event as { facts: { sharedWith?: string } }).facts.sharedWith);
    expect(shared.toSorted()).toEqual(['mine', 'mine', undefined, undefined]);
  });

  it('is not shared with another account or another request', async () => {
    dependencies = {
      ...dependencies,
      keys: { find: async (apiKey) => recordOf(apiKey), findSigner: async () => undefined },
    };
    invokeOnceJoined(3);

    await Promise.all([call(), call({ ...GOOD, apikey: 'OTHER' }), call({ ...GOOD, '-copies': '2' })]);

    expect(invocations).toHaveLength(3);
  });
});

describe('a missing or invalid key', () => {
  it.each([{ ...GOOD, apikey: 'WRONG' }, { ...GOOD, apikey: '' }, { app: 'tiny' }, {}])(
    'gets the specified text with status 200, and starts nothing',
    async (query) => {
      const { status, body } = await call(query as Record<string, string>);

      expect(status).toBe(200);
      expect(body).toMatch(/^\[ERROR\] Please provide a valid APIKEY\. /);
      expect(body).not.toContain('[Output]');
      expect(invocations).toEqual([]);
    },
  );
});

describe('a request that is not a conversion', () => {
  it.each(['/', '/api/x', '/API/', '/apis', '/api//', ''])('gets 404 at %j', async (path) => {
    const { status, body } = await call(GOOD, { path });

    expect(status).toBe(404);
    expect(body).toBe('[ERROR] Not found. Send conversion requests to /api/. (NOT_FOUND)');
  });

  it.each(['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'get', ''])(
    'gets 405 for the method %j',
    async (method) => {
      const { status, headers } = await call(GOOD, { method });

      expect(status).toBe(405);
      expect(headers).toMatchObject({ Allow: 'GET', 'X-Error-Code': 'METHOD_NOT_ALLOWED' });
    },
  );

  it('is rejected if it came through this service', async () => {
    const { status, body } = await call(GOOD, { header: headerOf({ 'cdn-loop': 'other, docmill' }) });

    expect(status).toBe(403);
    expect(body).toContain('(BLOCKED_ADDRESS)');
    expect(invocations).toEqual([]);
  });
});

describe('an error', () => {
  it('of the caller is reported before any work starts', async () => {
    const { status, body } = await call({ ...GOOD, '-copies': 'x' });

    expect(status).toBe(400);
    expect(body).toBe(
      "[ERROR] Parameter '-copies' must be an integer from 1 to 1000, got 'x'. (BAD_PARAMETER)",
    );
    expect([invocations, granted]).toEqual([[], []]);
  });

  it('of the tool is returned with its code, message and retry time', async () => {
    answering(async () => ({ ok: false, error: { code: 'OVERLOADED', message: 'Busy.', retryAfter: 7 } }));

    const { status, headers, body } = await call();

    expect(status).toBe(503);
    expect(headers).toMatchObject({ 'Retry-After': '7' });
    expect(body).toBe('[ERROR] Busy. (OVERLOADED)');
  });

  it('because the account itself has too much in progress counts towards its rate, but not as a conversion', async () => {
    const refunds: string[] = [];
    const { limiter } = dependencies;
    const release = async (_ticket: unknown, refund: string) => void refunds.push(refund);
    dependencies = { ...dependencies, limiter: { ...limiter, release } };
    const busy = new ConversionError('OVERLOADED', 'Busy.');
    const own = new ConversionError('OVERLOADED', 'Busy.', { details: { share: 4 } });
    for (const error of [busy, own]) {
      answering(() => Promise.reject(error));
      await call();
    }

    expect(refunds).toEqual(['all', 'month']);
  });

  it.each([
    new Error('secret /root/x', { cause: new Error('fetch https://u:p@h.example/?k=hidden') }),
    { code: 'NOT_FOUND', message: 'secret' },
    'secret',
  ])('of the service is returned without its cause, which is logged', async (thrown) => {
    answering(() => Promise.reject(thrown));

    const { status, body } = await call();

    expect(status).toBe(500);
    expect(body).toBe('[ERROR] Internal error. It has been logged. (INTERNAL)');
    expect(JSON.stringify(events)).toMatch(/secret|object/);
    expect(JSON.stringify(events)).not.toContain('hidden');
  });

  it('is INTERNAL if a tool names an object outside of its grant', async () => {
    answering(async () => ({ ok: true, objectKeys: ['another/b.png'] }));

    expect((await call()).status).toBe(500);
  });

  it('is logged with format, size and names of options, without their values', async () => {
    const measured = { sourceBytes: 7, resultBytes: 0, pages: 0, milliseconds: 1, steps: {} };
    const error = { code: 'CORRUPT_SOURCE', message: 'Damaged.' } as const;
    answering(async () => ({ ok: false, error, measured }));

    await call({ ...GOOD, '-copies': '3' });

    const facts = { code: 'CORRUPT_SOURCE', format: 'png', options: ['-copies'], sourceBytes: 7 };
    expect(events.at(-1)).toMatchObject({ event: 'call', facts });
  });

  it('is logged as a full disk, with the free bytes', async () => {
    const grant = async () => {
      throw diskFullError({ data: 5 });
    };
    dependencies = { ...dependencies, storage: { ...dependencies.storage, grant } };

    await call();

    expect(events).toMatchObject([{ event: 'disk full' }, { event: 'call' }]);
    expect(JSON.stringify(events[0])).toContain('free bytes: {\\"data\\":5}');
  });

  it('is logged without the query', async () => {
    await call({ ...GOOD, '-copies': 'x', apikey: 'KEY' });
    answering(async () => {
      throw new ConversionError('TIMED_OUT', 'Slow.');
    });
    await call();

    expect(events).toHaveLength(2);
    expect(JSON.stringify(events)).not.toMatch(/KEY|token|example\.org/);
  });
});

describe('a caller that disconnects', () => {
  it('aborts its conversion', async () => {
    const gone = new AbortController();
    let stopped = false;
    dependencies = {
      ...dependencies,
      invoke: (_, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped = true;
            reject(signal.reason);
          });
          gone.abort();
        }),
    };

    await call(GOOD, {}, gone.signal);

    expect(stopped).toBe(true);
  });
});
