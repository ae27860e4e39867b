import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { openStores, type Stores } from '../../../infra/local/stores.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { COMPILE_CACHE } from '../../helpers/processes.ts';

const SCRIPT = join(import.meta.dirname, '../../../infra/keys/main.ts');

let directory: string;
let stores: Stores;
let dependencies: Dependencies;
let conversions: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rotation-'));
  stores = openStores(directory);
  conversions = 0;
  dependencies = {
    ...stores,
    defaultLimits: {},
    health: async () => ({}),
    version: {},
    tools: Object.values(tools),
    storage: {
      ...KEPT_RESULTS,
      grant: async (request) => ({ ...request }),
      url: async (key) => `https://files.example/${key}`,
    },
    invoke: async ({ grant }) => {
      conversions += 1;
      return { ok: true, objectKeys: [`${grant.prefix}result`] };
    },
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: () => {},
  };
});
afterEach(() => {
  vi.useRealTimers();
  stores.close();
  rmSync(directory, { recursive: true });
});

/** Runs the command in a process of its own, beside the one that serves. */
async function keys(...args: string[]) {
  const env = { PATH: '/usr/bin:/bin', DATA_DIR: directory, ...COMPILE_CACHE };
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, ...args, '--json'], { env });
  return JSON.parse(stdout);
}

async function isServed(apiKey: string | undefined, number: number, ip = '203.0.113.1'): Promise<boolean> {
  const pairs = { app: 'imageproc', infile: `https://example.org/${number}.png`, outfile: 'b.jpg' };
  const query = Object.entries(apiKey === undefined ? pairs : { apikey: apiKey, ...pairs });
  const given = query.map(([name, value]) => ({ name, value }));
  const http = { method: 'GET', path: '/api/', query: given, header: () => undefined, ip };
  const { body } = await route(http, dependencies, new AbortController().signal);
  return String(body).startsWith('[Output]');
}

describe('a key', () => {
  it('is rotated twice during 10,000 calls, none of which fails', async () => {
    const first = await keys('create', '--name', 'caller');
    let current = first;
    let calls = 0;
    let failed = 0;
    let rotating = true;
    const caller = async () => {
      while (calls < 10_000 || rotating) {
        calls += 1;
        if (!(await isServed(current.apiKey, calls))) failed += 1;
        // Lets the process that rotates write, and this one read its result.
        if (calls % 50 === 0) await new Promise(setImmediate);
      }
    };
    const callers = Promise.all([caller(), caller(), caller(), caller()]);

    for (let time = 0; time < 2; time++) current = await keys('rotate', current.id, '--overlap', '1h');
    rotating = false;
    await callers;

    expect(failed).toBe(0);
    expect(calls).toBeGreaterThanOrEqual(10_000);
    expect(current.account).toBe(first.account);
    expect(await isServed(first.apiKey, 0)).toBe(true);
  });

  it('is refused by a running server as soon as the command that revokes it has ended', async () => {
    const { id, apiKey } = await keys('create', '--name', 'caller');
    expect(await isServed(apiKey, 1)).toBe(true);

    await keys('revoke', id);

    expect(await isServed(apiKey, 2)).toBe(false);
  });
});

describe('calls without a key', () => {
  it('get 5 conversions an hour for one address, of 1000 calls at once', async () => {
    // An hour must not end meanwhile.
    vi.useFakeTimers({ toFake: ['Date'] });
    dependencies = { ...dependencies, demo: { perAddress: 5, perHour: 60 } };

    const served = await Promise.all(
      Array.from({ length: 1000 }, (_, number) => isServed(undefined, number, '203.0.113.7')),
    );

    expect(served.every((one) => !one)).toBe(true);
    // An image is converted, then marked in a second conversion.
    expect(conversions).toBe(2 * 5);
  });
});
