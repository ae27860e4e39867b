import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { InvocationResult } from '../../../functions/platform/invoke.ts';
import type { Refund } from '../../../functions/platform/limits.ts';
import {
  createSqliteTable,
  type Database,
  openDatabase,
} from '../../../functions/platform/local/database.ts';
import { createStores } from '../../../functions/platform/stores.ts';
import type { Table } from '../../../functions/platform/table.ts';
import { signQuery } from '../../../functions/router/admission/authenticate.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { tiny } from '../tiny-tool.ts';

const QUERY = 'app=tiny&infile=https://example.org/a.png&outfile=b.png';

let directory: string;
let database: Database;
let invoked: number;
let writes: number;
let refunds: Refund[];
let recorded: string[];
let deleted: Set<string>;
let invoke: (signal: AbortSignal) => Promise<InvocationResult>;
/** The result of the last invocation. */
let objectKey: string;
let dependencies: Dependencies;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'idempotency-'));
  database = openDatabase(join(directory, 'docmill.db'));
  [invoked, writes, refunds, recorded, deleted] = [0, 0, [], [], new Set()];
  invoke = async () => ({ ok: true, objectKeys: [objectKey], pageCount: 3 });
  const sqlite = createSqliteTable(database, database.transaction);
  const table: Table = {
    ...sqlite,
    update: (...change) => {
      writes += 1;
      return sqlite.update(...change);
    },
  };
  dependencies = {
    ...unlimited,
    tools: [tiny],
    keys: {
      find: async (apiKey) => (/^(one|other)$/.test(apiKey) ? recordOf(apiKey) : undefined),
      findSigner: async () => undefined,
    },
    limiter: { ...unlimited.limiter, release: async (_ticket, refund) => void refunds.push(refund) },
    usage: { ...unlimited.usage, record: async ({ code }) => void recorded.push(code) },
    storage: {
      grant: async (request) => ({ ...request }),
      url: async (objectKey) => `https://files.example/${objectKey}`,
      exists: async (objectKey) => !deleted.has(objectKey),
      remove: async () => {},
    },
    uploads: {
      receive: async ({ content }) => (await buffer(content)).length,
      exists: async () => true,
      remove: async () => {},
      form: async () => ({ url: '', fields: {} }),
    },
    invoke: async ({ grant }, signal) => {
      invoked += 1;
      objectKey = `${grant.prefix}b.png`;
      return invoke(signal);
    },
    coalesce: createCoalescer(),
    idempotency: createStores(table, []).idempotency,
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: () => {},
  };
});

afterEach(async () => {
  database.close();
  await rm(directory, { recursive: true });
});

interface Sent {
  readonly query?: string;
  readonly key?: string | undefined;
  readonly apiKey?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal?: AbortSignal;
}

async function call({ query = QUERY, key = 'k1', apiKey = 'one', headers = {}, body, signal }: Sent = {}) {
  const all: Record<string, string> = {
    ...headers,
    'x-api-key': apiKey,
    ...(key !== '' && { 'idempotency-key': key }),
  };
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => ({ name, value }));
  const reply = await route(
    {
      method: body === undefined ? 'GET' : 'PUT',
      path: body === undefined ? '/api/' : '/api/a.png',
      query: pairs,
      header: (name) => all[name],
      ...(body !== undefined && { body: Readable.from([Buffer.from(body)]) }),
    },
    dependencies,
    signal ?? new AbortController().signal,
  );
  const { status, headers: received, body: content } = reply;
  const { 'X-Request-Id': _, ...others } = received;
  return { status, headers: others, body: String(content).replace(/"requestId.*/, '') };
}

const REPLAYED = { 'Idempotent-Replayed': 'true' };

describe('an Idempotency-Key', () => {
  it.each([
    ['text', '', {}],
    ['JSON', '', { accept: 'application/json' }],
    ['a redirect', '&_response=redirect', {}],
  ])('returns the same answer as %s, and converts once', async (_, more, headers) => {
    const [first, second] = [
      await call({ query: QUERY + more, headers }),
      await call({ query: QUERY + more, headers }),
    ];

    expect(first.status).toBeLessThan(400);
    expect(first.headers).not.toHaveProperty('Idempotent-Replayed');
    expect(second).toEqual({ ...first, headers: { ...first.headers, ...REPLAYED } });
    expect([invoked, refunds, recorded]).toEqual([1, ['none', 'month'], ['OK']]);
  });

  it('returns the result in another form', async () => {
    await call();

    expect(await call({ query: `${QUERY}&_response=redirect` })).toMatchObject({
      status: 303,
      headers: { Location: `https://files.example/${objectKey}` },
    });
  });

  it('recognizes a file that is sent again, and refuses another one', async () => {
    const query = 'app=tiny&outfile=b.png';
    const first = await call({ query, body: 'content' });
    const again = await call({ query, body: 'content' });
    const other = await call({ query, body: 'Content' });

    expect(again).toEqual({ ...first, headers: { ...first.headers, ...REPLAYED } });
    expect(other.headers['X-Error-Code']).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(invoked).toBe(1);
  });

  it.each([
    ['another option', `${QUERY}&--note=x`],
    ['another source', QUERY.replace('a.png', 'c.png')],
    ['another name', QUERY.replace('b.png', 'c.png')],
    // A result that is sent once is deleted, and the other one is not.
    ['another life of the result', `${QUERY}&_keep=0&_response=file`],
  ])('is refused with 422 for %s', async (_, query) => {
    await call();

    expect(await call({ query })).toMatchObject({
      status: 422,
      headers: { 'X-Error-Code': 'IDEMPOTENCY_KEY_REUSED' },
    });
    expect([invoked, refunds]).toEqual([1, ['none', 'month']]);
  });

  it('is refused with 409 while the request is running', async () => {
    const [started, finish] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    invoke = async () => {
      started.resolve();
      await finish.promise;
      return { ok: true, objectKeys: [objectKey] };
    };
    const first = call();
    await started.promise;
    const second = await call();
    finish.resolve();

    expect(second).toMatchObject({
      status: 409,
      headers: { 'X-Error-Code': 'REQUEST_IN_PROGRESS', 'Retry-After': '5' },
    });
    expect((await first).status).toBe(200);
    expect((await call()).headers).toMatchObject(REPLAYED);
  });

  it('returns the same error if the document is to blame, and is free again if the service is', async () => {
    invoke = async () => ({ ok: false, error: { code: 'CORRUPT_SOURCE', message: 'It is damaged.' } });
    const errors = [await call(), await call()];
    invoke = async () => ({ ok: false, error: { code: 'INTERNAL', message: 'Failed.' } });
    const failed = await call({ key: 'k2' });
    invoke = async () => {
      throw new Error('The tool cannot be reached.');
    };
    const rejected = await call({ key: 'k2' });
    invoke = async () => ({ ok: true, objectKeys: [objectKey] });

    expect(errors.map(({ status }) => status)).toEqual([422, 422]);
    expect(errors[1]!.body).toBe(errors[0]!.body);
    expect([failed.status, rejected.status]).toEqual([500, 500]);
    expect((await call({ key: 'k2' })).body).toBe(`[Output] https://files.example/${objectKey}<br>`);
    expect(invoked).toBe(4);
  });

  it('is free again if the caller disconnects before the conversion has ended', async () => {
    const caller = new AbortController();
    invoke = (signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        caller.abort(new Error('disconnected'));
      });
    await call({ signal: caller.signal });
    invoke = async () => ({ ok: true, objectKeys: [objectKey] });

    expect((await call()).status).toBe(200);
    expect(invoked).toBe(2);
  });

  it('converts again when the result has been deleted', async () => {
    await call();
    deleted.add(objectKey);

    expect((await call()).body).toBe(`[Output] https://files.example/${objectKey}<br>`);
    expect((await call()).headers).toMatchObject(REPLAYED);
  });

  it.each(['', '&--note=x'])('returns the result of an upload that has expired since%s', async (more) => {
    const query = `app=tiny&infile=upload:${'0'.repeat(32)}/a.png&outfile=b.png${more}`;
    const first = await call({ query });
    dependencies = { ...dependencies, uploads: { ...dependencies.uploads!, exists: async () => false } };

    expect(await call({ query })).toEqual({ ...first, headers: { ...first.headers, ...REPLAYED } });
    expect((await call({ query, key: 'k2' })).headers['X-Error-Code']).toBe('SOURCE_STATUS');
    expect(invoked).toBe(1);
  });

  it('returns the result of a source whose URL was signed again, and of no other one', async () => {
    const signed = (object: string, time: string) =>
      `app=tiny&outfile=b.png&infile=${encodeURIComponent(`https://b.s3.amazonaws.com/${object}?versionId=7&X-Amz-Date=${time}&X-Amz-Signature=${time}f`)}`;
    await call({ query: signed('a.png', '1') });

    expect((await call({ query: signed('a.png', '2') })).headers).toMatchObject(REPLAYED);
    for (const query of [signed('c.png', '1'), signed('a.png', '1').replace('Id%3D7', 'Id%3D8')])
      expect((await call({ query })).status).toBe(422);
    expect(invoked).toBe(1);
  });

  it('lets nobody cache a repeated result, which may be older than a signed link allows', async () => {
    const secret = '0'.repeat(64);
    const { storage, keys } = dependencies;
    const open = async () => ({ content: Readable.from(['content']), headers: {} });
    const findSigner = async () => ({ secret, record: recordOf('one') });
    dependencies = { ...dependencies, storage: { ...storage, open }, keys: { ...keys, findSigner } };
    const pairs = [...new URLSearchParams(`${QUERY}&_response=file&_cache=60`)];
    const expires = Math.ceil(Date.now() / 1000) + 600;
    const query = signQuery(
      pairs.map(([name, value]) => ({ name, value })),
      { id: `key_${'A'.repeat(10)}`, secret, expires },
    );

    expect((await call({ query })).headers['Cache-Control']).toMatch(/^public/);
    expect((await call({ query })).headers).toMatchObject({ 'Cache-Control': 'no-store', ...REPLAYED });
  });

  it('never returns the result of another account', async () => {
    await call();

    expect((await call({ apiKey: 'other' })).body).toBe(`[Output] https://files.example/${objectKey}<br>`);
    expect((await call({ apiKey: 'other', query: `${QUERY}&--note=x` })).status).toBe(422);
  });

  it('writes nothing without the header', async () => {
    await call({ key: '' });
    await call({ key: '' });

    expect([invoked, writes]).toEqual([2, 0]);
  });

  it.each(['x'.repeat(256), 'a\tb', '""'])('is refused as %j', async (key) => {
    expect(await call({ key })).toMatchObject({ status: 400, headers: { 'X-Error-Code': 'BAD_PARAMETER' } });
    expect(invoked).toBe(0);
  });

  it.each(['x'.repeat(255), 'Größe 1', 'a, b', '{"a": 1}'])('may be %j', async (key) => {
    await call({ key });

    expect((await call({ key: `"${key}"` })).headers).toMatchObject(REPLAYED);
  });
});
