import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { listProcesses, readProcess } from '../../../../../functions/engines/worker/linux/proc.ts';
import { WorkerPool } from '../../../../../functions/engines/worker/pool.ts';
import { processesBelow } from '../../../../helpers/processes.ts';

const WORKER = fileURLToPath(new URL('escaping-worker.ts', import.meta.url));
const BROWSERS = fileURLToPath(new URL('../../../../../functions/html2image/worker.ts', import.meta.url));

/** Timeout in milliseconds that is sufficient even on a busy machine. */
const PATIENT = 120_000;

let temporary: string;
let mark: string;
let pool: WorkerPool;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'survivors-'));
  mark = `mark-${temporary.slice(-6)}`;
  const command = () => ({ command: process.execPath, args: [WORKER, mark] });
  pool = new WorkerPool(command, { temporary, size: 1, requests: 100, memory: 500 });
});

afterEach(async () => {
  await pool.close();
  for (const pid of [...survivors(), ...processesBelow(temporary).map((each) => each.pid)])
    process.kill(pid, 'SIGKILL');
  await rm(temporary, { recursive: true, force: true });
});

/** The processes that the browsers of this test started. */
function survivors(): number[] {
  return listProcesses().filter((pid) => readProcess(pid, 'cmdline').endsWith(`1000)\0${mark}\0`));
}

async function startBrowser(): Promise<readonly number[]> {
  await pool.warm();
  return untilStarted();
}

async function untilStarted(): Promise<readonly number[]> {
  await expect.poll(() => survivors()).toHaveLength(1);
  return survivors();
}

function run(end: string, time = PATIENT): Promise<unknown> {
  const options = { account: 'one', directory: temporary, signal: AbortSignal.timeout(time) };
  return pool.run({ operation: 'end', arguments: { end } }, options);
}

async function expectEnd(pids: readonly number[]): Promise<void> {
  await expect.poll(() => survivors().filter((pid) => pids.includes(pid))).toEqual([]);
}

describe('a process that a compromised browser started does not survive', () => {
  it('the end of the service', async () => {
    const started = await startBrowser();
    await run('normal');
    await pool.close();

    await expectEnd(started);
  });

  it.each([
    ['a crash', 'crash', PATIENT],
    ['a timeout', 'hang', 1000],
  ] as const)('%s', async (_name, end, time) => {
    const started = await startBrowser();
    await run(end, time).catch(() => {});

    await expectEnd(started);
  });

  it.each(['SIGKILL', 'SIGTERM'] as const)('the end of the service by %s', async (signal) => {
    const service = spawn(process.execPath, [WORKER, mark, '--service', temporary], { stdio: 'ignore' });
    const started = await untilStarted();
    service.kill(signal);

    await expectEnd(started);
  });
});

it('a browser that hangs while it starts does not survive the end of the service by SIGKILL', async () => {
  const args = [WORKER, mark, '--service', temporary, BROWSERS];
  const service = spawn(process.execPath, args, { stdio: 'ignore' });
  const browser = await vi.waitFor(
    () => {
      const found = processesBelow(temporary).find(({ command }) =>
        command.includes('--remote-debugging-pipe'),
      );
      expect(found).toBeDefined();
      return found!;
    },
    { timeout: 60_000, interval: 5 },
  );
  process.kill(browser.pid, 'SIGSTOP');
  service.kill('SIGKILL');

  await expect.poll(() => processesBelow(temporary)).toEqual([]);
});
