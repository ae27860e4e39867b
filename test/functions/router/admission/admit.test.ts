import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Invoke } from '../../../../functions/platform/invoke.ts';
import { type KeyRecord, rotateKey } from '../../../../functions/platform/keys.ts';
import {
  createSqliteTable,
  type Database,
  openDatabase,
} from '../../../../functions/platform/local/database.ts';
import { createStores, type Stores } from '../../../../functions/platform/stores.ts';
import { limitsOf } from '../../../../functions/router/admission/admit.ts';
import type { Dependencies } from '../../../../functions/router/dependencies.ts';
import type { HttpRequest } from '../../../../functions/router/http.ts';
import { createCoalescer } from '../../../../functions/router/reuse.ts';
import { route } from '../../../../functions/router/route.ts';
import { ConversionError } from '../../../../functions/shared/errors.ts';
import { CONVERSION_LIMITS } from '../../../../functions/shared/tool.ts';
import { KEPT_RESULTS } from '../../../helpers/kept-results.ts';
import { unlimited } from '../../accounts.ts';
import { tiny } from '../../tiny-tool.ts';
import { headerOf } from '../header.ts';

const MEASURED = { sourceBytes: 10, resultBytes: 20, pages: 3, milliseconds: 40, steps: { convert: 40 } };

let directory: string;
let database: Database;
let stores: Stores;
let apiKey: string;
let record: KeyRecord;
let invoke: Invoke;
let grant: Dependencies['storage']['grant'];
let lines: Array<Record<string, unknown>>;

beforeEach(async () => {
  // A minute must not end during a test.
  vi.useFakeTimers({ toFake: ['Date'] });
  directory = mkdtempSync(join(tmpdir(), 'limit-'));
  database = openDatabase(join(directory, 'docmill.db'));
  stores = createStores(createSqliteTable(database, database.transaction), ['tiny']);
  ({ apiKey, record } = await stores.keys.create({ name: 'test', limits: { perMinute: 50, perMonth: 3 } }));
  grant = async (request) => ({ ...request });
  invoke = async ({ grant }) => ({ ok: true, objectKeys: [`${grant.prefix}b.png`], measured: MEASURED });
  lines = [];
});
afterEach(() => {
  vi.useRealTimers();
  database.close();
  rmSync(directory, { recursive: true });
});

function call(query: Record<string, string> = {}, http: Partial<HttpRequest> = {}) {
  const dependencies: Dependencies = {
    ...unlimited,
    ...stores,
    tools: [tiny],
    storage: {
      ...KEPT_RESULTS,
      grant: (request) => grant(request),
      url: async (key) => `https://files.example/${key}`,
    },
    invoke: (...args) => invoke(...args),
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: (event, facts) => lines.push({ event, ...facts }),
  };
  const all = {
    apikey: apiKey,
    app: 'tiny',
    infile: 'https://example.org/a.png',
    outfile: 'b.png',
    ...query,
  };
  const pairs = Object.entries(all).map(([name, value]) => ({ name, value }));
  return route(
    { method: 'GET', path: '/api/', query: pairs, header: () => undefined, ...http },
    dependencies,
    new AbortController().signal,
  );
}

const left = ({ headers }: { headers: Readonly<Record<string, string>> }) =>
  [...headers.RateLimit!.matchAll(/r=(\d+)/g)].map(([, count]) => Number(count));

describe('the limits of a key', () => {
  it('are part of every response, and reject calls over the quota', async () => {
    const replies = [await call(), await call(), await call(), await call()];

    expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 429]);
    expect(replies.map(left)).toEqual([
      [49, 2],
      [48, 1],
      [47, 0],
      [47, 0],
    ]);
    expect(lines.map(({ code }) => code)).toEqual(['OK', 'OK', 'OK', 'QUOTA_EXCEEDED']);
    const { headers, body } = replies[3]!;
    expect(headers['X-Error-Code']).toBe('QUOTA_EXCEEDED');
    expect(Number(headers['Retry-After'])).toBeGreaterThan(0);
    expect(body).toMatch(
      /^\[ERROR\] This account may make 3 conversions per month\. The next month starts on \d{4}-\d\d-01\. \(QUOTA_EXCEEDED\)$/,
    );
  });

  it('take precedence over the default limits', () => {
    const defaults = { perMinute: 10, perMonth: 1000 };

    expect(limitsOf({ ...record, limits: { perMonth: 3 } }, defaults)).toEqual({
      perMinute: 10,
      perMonth: 3,
    });
  });

  it('reject calls over the limit per minute', async () => {
    await stores.keys.update(record.id, { limits: { perMinute: 1 } });
    await call();

    const { status, headers, body } = await call();

    expect([status, headers['X-Error-Code']]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(headers['Retry-After'])).toBeLessThanOrEqual(60);
    expect(body).toMatch(/^\[ERROR\] This account may make 1 request per minute\. Retry in \d+ seconds?\. /);
  });

  it('refund calls that failed through no fault of the caller', async () => {
    invoke = async () => {
      throw new Error('broken');
    };
    const broken = await call();
    invoke = async () => ({ ok: false, error: { code: 'OVERLOADED', message: 'Busy.', retryAfter: 5 } });
    const busy = await call();

    expect([left(broken), left(busy)]).toEqual([
      [50, 3],
      [50, 3],
    ]);
  });

  it('count a mistake of the caller as a request, not as a conversion', async () => {
    expect(left(await call({ '-copies': 'x' }))).toEqual([49, 3]);
  });

  it('do not count a call for whose result there is no space', async () => {
    grant = async () => {
      throw new ConversionError('QUOTA_EXCEEDED', 'The stored results of this account take 9 MiB.');
    };
    const full = await call();

    expect([full.status, ...left(full)]).toEqual([429, 49, 3]);
    expect(JSON.parse(String((await call({}, { path: '/api/usage' })).body)).total.conversions).toBe(0);
  });

  it('count a source that cannot be converted', async () => {
    invoke = async () => ({ ok: false, error: { code: 'CORRUPT_SOURCE', message: 'Damaged.' } });

    expect(left(await call())).toEqual([49, 2]);
  });

  it('are those of the new minute after a call during which the minute ended', async () => {
    const passOn = invoke;
    invoke = async (...args) => {
      vi.setSystemTime(Date.UTC(2026, 10, 21, 12, 31, 10));
      for (let other = 0; other < 3; other++) await call({ '-copies': 'x' });
      return passOn(...args);
    };
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 21, 12, 30, 50) });

    const { headers } = await call();

    expect(headers.RateLimit).toMatch(/^"minute";r=47;t=50, "month";r=2;/);
  });

  it('apply to the account, even after its key is rotated', async () => {
    await call();
    const rotated = await rotateKey(stores.keys, record.id, 60_000);
    const [old, renewed] = [await call(), await call({ apikey: rotated!.apiKey })];

    expect([left(old)[1], left(renewed)[1]]).toEqual([1, 0]);
  });

  it('restrict a key with an allow list to those tools', async () => {
    const other = await stores.keys.create({ name: 'other', tools: ['pdftools'] });

    const { status, body } = await call({ apikey: other.apiKey });

    expect(status).toBe(400);
    expect(body).toBe(
      "[ERROR] Parameter 'app' must be one of pdftools for this API key, got 'tiny'. (UNKNOWN_APP)",
    );
  });
});

describe('the usage of an account', () => {
  it('is recorded with the tool measurements, and returned with the remaining quota', async () => {
    await call();
    invoke = async () => ({ ok: false, error: { code: 'CORRUPT_SOURCE', message: 'Damaged.' } });
    await call();

    const { status, headers, body } = await call({}, { path: '/api/usage' });

    expect(status).toBe(200);
    expect(headers['Content-Type']).toBe('application/json; charset=utf-8');
    expect(left({ headers })).toEqual([48, 1]);
    expect(JSON.parse(String(body))).toMatchObject({
      limits: { month: { limit: 3, used: 2, remaining: 1 } },
      total: {
        conversions: 2,
        failures: { CORRUPT_SOURCE: 1 },
        sourceBytes: 10,
        resultBytes: 20,
        pages: 3,
        milliseconds: 40,
      },
      tools: { tiny: { conversions: 2 } },
    });
    expect(body).not.toContain('estimatedDollars');
    expect(body).not.toMatch(/example\.org|a\.png/);
  });

  it('requires a key', async () => {
    const { body } = await call({ apikey: 'none' }, { path: '/api/usage' });

    expect(body).toMatch(/^\[ERROR\] Please provide a valid APIKEY\./);
  });
});

describe('a request id', () => {
  it('of the caller is kept, passed to the tool and logged with how the call ended', async () => {
    const seen: unknown[] = [];
    const passOn = invoke;
    invoke = (invocation, signal) => {
      seen.push(invocation.requestId, invocation.traceparent);
      return passOn(invocation, signal);
    };
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

    const { headers } = await call({}, { header: headerOf({ 'x-request-id': 'order-17.a', traceparent }) });

    expect(headers['X-Request-Id']).toBe('order-17.a');
    expect(seen).toEqual(['order-17.a', traceparent]);
    expect(lines).toEqual([
      expect.objectContaining({
        event: 'call',
        requestId: 'order-17.a',
        traceparent,
        keyId: record.id,
        tool: 'tiny',
        code: 'OK',
        status: 200,
        steps: { convert: 40 },
      }),
    ]);
  });

  it.each(['', 'a b', 'x'.repeat(65), '"}{"', '\n', 'id.1234567-ABCDEFG-HJKMNPQ-RSTVWXY'])(
    'that is not safe to log is replaced: %j',
    async (requestId) => {
      const { headers } = await call({}, { header: headerOf({ 'x-request-id': requestId }) });

      expect(headers['X-Request-Id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );
});
