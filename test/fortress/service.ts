import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileKeys } from '../../functions/shared/keys/file.ts';
import { jsonLog } from '../../functions/shared/log.ts';
import { LIMITS } from '../../functions/shared/tool.ts';
import { startService } from '../../infra/local/service.ts';
import type { Settings } from '../../infra/local/settings.ts';
import type { Canary } from './canary.ts';

export const LAYERS = fileURLToPath(new URL('../../dist/layers', import.meta.url));

/** What came back for one call. */
export interface Answer {
  readonly status: number;
  readonly code: string | undefined;
  readonly body: string;
  /** Addresses of the results; none on failure. */
  readonly results: readonly string[];
  readonly milliseconds: number;
  readonly retryAfter: string | undefined;
}

export interface Fort {
  readonly base: string;
  readonly apiKey: string;
  /** Calls the service as a caller does, with the key unless the query has one; every byte of the answer passes the canary. */
  ask(query: Readonly<Record<string, string>>): Promise<Answer>;
  /** Downloads a result; its headers and bytes pass the canary. */
  fetchResult(address: string): Promise<Buffer>;
}

const LOOK_AROUND = 500;

/** Starts the one-machine deployment with a real key, lets `use` attack it, and closes it; the canary sees all it leaves behind. */
export async function withService<Result>(
  settings: Partial<Settings> & { canary: Canary },
  use: (fort: Fort) => Promise<Result>,
): Promise<Result> {
  const { canary, ...given } = settings;
  const dataDirectory = await mkdtemp(join(tmpdir(), 'fortress-'));
  const keys = createFileKeys(join(dataDirectory, 'keys.json'));
  const apiKey = await keys.create();
  canary.watch(apiKey);
  const service = await startService(
    {
      host: '127.0.0.1',
      port: 0,
      apiKey: undefined,
      dataDirectory,
      allowSources: [],
      accountUrl: 'http://localhost/account',
      supportUrl: 'http://localhost/support',
      addressLife: 3600,
      size: 2,
      queue: 1000,
      limits: { ...LIMITS, conversionTime: 30_000 },
      ...given,
    } as Settings,
    { keys, layers: LAYERS, log: jsonLog((line) => canary.inspect('log', line)) },
  );
  const watching = setInterval(() => canary.inspectProcesses(), LOOK_AROUND);
  try {
    return await use(fortAt(`http://127.0.0.1:${service.port}`, apiKey, canary));
  } finally {
    clearInterval(watching);
    await service.close();
    await inspectFiles(dataDirectory, canary);
    await rm(dataDirectory, { recursive: true });
  }
}

/** A service that runs already, as its callers see it. */
export function fortAt(base: string, apiKey: string, canary: Canary): Fort {
  return {
    base,
    apiKey,
    async ask(query) {
      const started = Date.now();
      const response = await fetch(`${base}/api/?${new URLSearchParams({ apikey: apiKey, ...query })}`);
      const body = await response.text();
      canary.inspect('headers of an answer', JSON.stringify([...response.headers]));
      canary.inspect('body of an answer', body);
      return {
        status: response.status,
        code: response.headers.get('x-error-code') ?? undefined,
        body,
        results: [...body.matchAll(/\[Output\] (\S+)<br>/g)].map(([, address]) => address!),
        milliseconds: Date.now() - started,
        retryAfter: response.headers.get('retry-after') ?? undefined,
      };
    },
    async fetchResult(address) {
      const response = await fetch(address);
      const bytes = Buffer.from(await response.arrayBuffer());
      canary.inspect('headers of a result', JSON.stringify([...response.headers]));
      canary.inspect('bytes of a result', bytes);
      if (!response.ok) throw new Error(`A result could not be downloaded: ${response.status}.`);
      return bytes;
    },
  };
}

async function inspectFiles(directory: string, canary: Canary): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  for (const entry of entries) {
    const path = join(entry.parentPath, entry.name);
    canary.inspect(`name of the file ${entry.name}`, entry.name);
    if (entry.isFile()) canary.inspect(`the file ${entry.name}`, await readFile(path));
  }
}
