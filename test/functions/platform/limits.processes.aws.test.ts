import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../../functions/platform/local/database.ts';
import { startDynalite } from '../../aws-servers/dynalite.ts';

const PROCESSES = 5;
const CALLS = 100;
const SCRIPT = join(import.meta.dirname, 'limits.caller.ts');
const START_TIME = 4000;

let directory: string;
let dynalite: Awaited<ReturnType<typeof startDynalite>>;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'processes-'));
  openDatabase(join(directory, 'docmill.db')).close();
  dynalite = await startDynalite('keys');
});
afterAll(async () => {
  await dynalite.close();
  await rm(directory, { recursive: true });
});

async function callAtOnce(task: object): Promise<number[]> {
  const argument = JSON.stringify({ ...task, calls: CALLS, begin: Date.now() + START_TIME });
  const processes = Array.from({ length: PROCESSES }, () =>
    promisify(execFile)(process.execPath, [SCRIPT, argument]),
  );
  const outputs = await Promise.all(processes);
  return outputs.map(({ stdout }) => JSON.parse(stdout).admitted as number);
}

describe.each([
  ['SQLite', () => ({ file: join(directory, 'docmill.db') })],
  ['DynamoDB', () => ({ endpoint: dynalite.endpoint })],
])('500 parallel calls by 5 processes on %s', (store, place) => {
  it.each([
    ['a quota', { perMonth: 100 }],
    ['calls in progress', { concurrent: 100 }],
  ])('are admitted exactly 100 times with 100 left of %s', async (what, limits) => {
    const admitted = await callAtOnce({ ...place(), limits, account: `${store} ${what}` });

    expect(admitted.reduce((sum, count) => sum + count, 0)).toBe(100);
  });
});
