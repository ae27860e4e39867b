import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import type { JobCall } from '../../../functions/jobs/job.ts';
import { createLocalQueue, type LocalQueue } from '../../../functions/jobs/local-queue.ts';
import { createDeliveries } from '../../../functions/jobs/webhooks/deliveries.ts';
import type { Invocation, InvocationResult } from '../../../functions/platform/invoke.ts';
import type { KeyRecord } from '../../../functions/platform/keys.ts';
import { createLimiter } from '../../../functions/platform/limiter.ts';
import { createSqliteTable, openDatabase } from '../../../functions/platform/local/database.ts';
import { createStores } from '../../../functions/platform/stores.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { createEgressGuard } from '../../../functions/shared/egress/guard.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { tiny } from '../tiny-tool.ts';

export const ORIGIN = 'https://docmill.example';

/** Converts as the test says. `invocation.source` tells jobs apart. */
export type Convert = (invocation: Invocation, signal: AbortSignal) => Promise<InvocationResult>;

interface Sent {
  readonly path?: string;
  readonly method?: string;
  readonly account?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A router with the queue of one machine and a real database, whose tool is a function. */
export async function startLocal({
  convert,
  total = 2,
  maxQueued = 1000,
  maxWaiting = 100,
  directory,
  limits = {},
}: {
  convert: Convert;
  total?: number;
  maxQueued?: number;
  maxWaiting?: number;
  /** Of an earlier service. */
  directory?: string;
  limits?: KeyRecord['limits'];
}) {
  const folder = directory ?? (await mkdtemp(join(tmpdir(), 'jobs-')));
  const database = openDatabase(join(folder, 'docmill.db'));
  const table = createSqliteTable(database, database.transaction);
  const { jobs, webhookSecrets, idempotency } = createStores(table, []);
  const uploads = new Map<string, Buffer>();
  const kept = new Map<string, number>();
  const removed: string[] = [];
  const logged: Record<string, unknown>[] = [];
  const keys = new Map<string, KeyRecord>();
  const find = async (account: string) => {
    const record = keys.get(account) ?? recordOf(account, { id: `key_${account}`, limits });
    keys.set(account, record);
    return record;
  };
  const dependencies: Dependencies = {
    ...unlimited,
    limiter: createLimiter(table),
    tools: [tiny],
    keys: {
      find,
      findSigner: async () => undefined,
      get: (id) => find(id.replace('key_', '')),
    },
    storage: {
      grant: async ({ prefix }) => ({ prefix }),
      url: async (objectKey) => `${ORIGIN}/files/${objectKey}`,
      exists: async () => true,
      remove: async ({ objectKey }) => void removed.push(objectKey),
    },
    uploads: {
      receive: async ({ objectKey, content }) => {
        const bytes = await buffer(content);
        uploads.set(objectKey, bytes);
        return bytes.length;
      },
      exists: async (objectKey) => uploads.has(objectKey),
      keep: async (objectKey, until) => void kept.set(objectKey, until),
      remove: async ({ objectKey }) => void uploads.delete(objectKey),
      form: async () => ({ url: '', fields: {} }),
    },
    invoke: convert,
    coalesce: createCoalescer(),
    idempotency,
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: (event, fields) => void logged.push({ event, ...fields }),
  };
  const guard = createEgressGuard({
    resolve: async () => ['127.0.0.1'],
    exceptions: ['receiver.example:80'],
  });
  const deliveries = createDeliveries(
    jobs,
    {
      guard,
      secrets: webhookSecrets,
      tools: [tiny],
      storageAt: () => dependencies.storage,
      isInsecureAllowed: ({ hostname }) => hostname === 'receiver.example',
    },
    dependencies.log,
  );
  const queue: LocalQueue = createLocalQueue({
    jobs,
    deliveries,
    at: () => dependencies,
    total,
    maxQueued,
    maxWaiting,
    log: dependencies.log,
  });

  /** Sends a request and returns the status, the headers and the body, parsed if it is JSON. */
  async function send(
    query: string,
    { path = '/api/', method, account = 'alice', headers = {}, body }: Sent = {},
  ) {
    const all: Record<string, string> = { ...headers, 'x-api-key': account };
    const reply = await route(
      {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        path,
        query: [...new URLSearchParams(query)].map(([name, value]) => ({ name, value })),
        header: (name) => all[name],
        origin: ORIGIN,
        ...(body !== undefined && { body: Readable.from([Buffer.from(body)]) }),
      },
      { ...dependencies, queue },
      new AbortController().signal,
    );
    const text = String(reply.body);
    const isJson = reply.headers['Content-Type']?.includes('json');
    return {
      status: reply.status,
      headers: reply.headers,
      text,
      json: isJson ? JSON.parse(text) : undefined,
    };
  }

  return {
    send,
    queue,
    jobs,
    dependencies,
    guard,
    webhookSecrets,
    keys,
    uploads,
    kept,
    removed,
    logged,
    folder,
    /** Asks for a job and returns its ID. */
    async submit(name: string, account = 'alice', more = '') {
      const { headers } = await send(
        `app=tiny&infile=https://example.org/${name}&outfile=${name}.png&_async=1${more}`,
        { account },
      );
      return headers.Location!.split('/').at(-1)!;
    },
    get: async (id: string, account = 'alice', query = '') =>
      (await send(query, { path: `/api/jobs/${id}`, account })).json,
    /** Closes the queue as a stop does. */
    async close() {
      await queue.close();
      database.close();
    },
    async remove() {
      await queue.close();
      if (database.connection.isOpen) database.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns what a job consists of, for the store. */
export function jobCall(name: string, more: Partial<JobCall['request']> = {}, account = 'alice'): JobCall {
  return {
    key: recordOf(account, { id: `key_${account}` }),
    request: {
      tool: 'tiny',
      source: `https://example.org/${name}`,
      format: 'png',
      outputName: { kind: 'one', name: `${name}.png` },
      options: {},
      optionNames: [],
      ignored: [],
      response: 'text',
      ...more,
    },
    uploads: { assets: [], objectKeys: [], others: [] },
    origin: ORIGIN,
  };
}

export type Local = Awaited<ReturnType<typeof startLocal>>;

/** Converts at once. */
export const atOnce: Convert = async ({ grant }) => ({
  ok: true,
  objectKeys: [`${grant.prefix}a.png`],
  pageCount: 1,
});

/** A tool whose conversions end when the test says so. */
export function controlled() {
  const started: string[] = [];
  const waiting = new Map<string, (result?: InvocationResult) => void>();
  const convert: Convert = ({ source, grant }, signal) => {
    const name = source.split('/').at(-1)!;
    started.push(name);
    return new Promise((resolve, reject) => {
      const fallback: InvocationResult = { ok: true, objectKeys: [`${grant.prefix}a.png`] };
      waiting.set(name, (result = fallback) => resolve(result));
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  };
  return {
    convert,
    started,
    finish: (name: string, result?: InvocationResult) => waiting.get(name)!(result),
  };
}
