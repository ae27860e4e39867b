import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fuzz } from './fuzz.ts';
import { buildProgram } from './hosts.ts';

const ROOT = join(import.meta.dirname, '../..');
const SAMPLES = join(ROOT, 'infra/local/self-check/samples');
let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'sanitized-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

/** Runs a program, whose answers are dropped. */
function run([command, ...args]: readonly [string, ...string[]], ...more: readonly string[]) {
  const nowhere = openSync('/dev/null', 'w');
  const stdio = ['ignore', 'pipe', 'pipe', nowhere] as const;
  const done = spawnSync(command, [...args, ...more], { encoding: 'utf8', stdio: [...stdio] });
  closeSync(nowhere);
  return done;
}

describe('the sanitizers', () => {
  it('end a program that misuses memory or relies on undefined behavior', async () => {
    const program = await buildProgram('overflow', directory);

    expect(run(program).status).toBe(0);
    expect(run(program, 'heap').stderr).toContain('heap-buffer-overflow');
    expect(run(program, 'overflow').stderr).toContain('signed integer overflow');
  });
});

describe('under sanitizers', () => {
  it('the reader of requests survives broken lines', async () => {
    const program = await buildProgram('lines', directory);
    const request = { id: 1, operation: 'draw', directory: '/', inputs: ['source'], outputs: ['page-1.png'] };
    const frames = [{ page: 1, width: 10.5, substitute: 'raster' }, []];
    const lines = [{ source: 'a\u0000ä', password: 'p', cropBox: true, frames }, {}].map((given) =>
      JSON.stringify({ ...request, arguments: given }),
    );

    const { status, stdout, stderr } = run(program, '5', '1', ...lines);

    expect(stderr).toBe('');
    expect(status).toBe(0);
    const [, all, requests] = /^(\d+) lines, (\d+) requests$/m.exec(stdout)!.map(Number);
    expect(all).toBeGreaterThan(5000);
    expect(requests).toBeGreaterThan(100);
  });

  // It runs for minutes or hours with `node test/sanitizers/fuzz.ts --seconds 3600`.
  it('the hosts survive mutated documents and requests', async () => {
    const { requests, reports } = await fuzz({ seconds: 15, folders: [SAMPLES], documents: 3 });

    expect(reports).toEqual([]);
    for (const [host, count] of Object.entries(requests)) expect([host, count > 2]).toEqual([host, true]);
  });
});
