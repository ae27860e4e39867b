import { execFileSync, spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { WorkerPool, type WorkerPoolOptions } from '../../../../functions/engines/worker/pool.ts';

const FAULTS = fileURLToPath(new URL('faults.ts', import.meta.url));

/** Timeout in milliseconds that is sufficient even on a busy machine. */
const PATIENT = 120_000;

let temporary: string;
let pool: WorkerPool;

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'faults-'));
  pool = open();
});

function open(
  options: Partial<WorkerPoolOptions> = {},
  command = () => ({ command: process.execPath, args: [FAULTS] }),
): WorkerPool {
  return new WorkerPool(command, {
    temporary,
    size: 1,
    // A spare for another account would take as long to start as the worker.
    singleAccount: true,
    requests: 100,
    memory: 200,
    maxDisk: 50 * 2 ** 20,
    maxThreads: 50,
    ...options,
  });
}

afterEach(async () => {
  vi.useRealTimers();
  await pool.close();
  await rm(temporary, { recursive: true, force: true });
});

function run(fault: string, time = PATIENT): Promise<number> {
  return pool.run<number>(
    { operation: 'fault', arguments: { fault }, outputs: ['none'] },
    { account: 'one', directory: temporary, signal: AbortSignal.timeout(time) },
  );
}

function isAlive(pid: number): boolean {
  try {
    // A zombie has no command line left.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

it('is warm again after a worker has failed to start', async () => {
  const commands = ['false', process.execPath];
  const other = open({}, () => ({ command: commands.shift()!, args: [FAULTS] }));
  await expect(other.warm()).rejects.toThrow();

  await expect(other.warm()).resolves.toBeUndefined();

  await other.close();
});

it('fails to start as if it had exited if no file descriptor is free', async () => {
  const script = fileURLToPath(new URL('without-descriptors.ts', import.meta.url));

  const ended = execFileSync('sh', [
    '-c',
    'ulimit -n 100; exec "$@"',
    'sh',
    process.execPath,
    script,
    temporary,
  ]);

  expect(ended.toString()).toMatch(/^WorkerCrash: .*EMFILE/);
});

describe('an engine that misbehaves', () => {
  it.each([
    ['stop', 'TIMED_OUT', 1000],
    ['dump core', 'CONVERSION_FAILED', PATIENT],
    ['out of memory', 'CONVERSION_FAILED', PATIENT],
    ['fill the disk', 'CONVERSION_FAILED', PATIENT],
    ['keep deleted files in another process', 'CONVERSION_FAILED', PATIENT],
    ['leave many files', 'RESULT_TOO_LARGE', PATIENT],
    ['send a message without end', 'CONVERSION_FAILED', PATIENT],
    ['name a file that it was not granted', 'CONVERSION_FAILED', PATIENT],
  ] as const)('by %s ends in %s, and the next request succeeds', async (fault, code, time) => {
    const failed = run(fault, time);

    await expect(failed).rejects.toMatchObject({ code });
    expect(await run('none')).toBeGreaterThan(0);
    await pool.close();
    expect(await readdir(temporary)).toEqual([]);
  });

  it('ends if it starts threads later than its result', async () => {
    const engine = await run('start threads later');

    await expect.poll(() => isAlive(engine)).toBe(false);
  });

  it('reports that it has too many threads', async () => {
    await expect(run('start threads')).rejects.toMatchObject({
      message: 'The conversion exceeded its thread limit.',
    });
  });

  it.each(['fork', 'fork without environment'])(
    'by a %s into another session leaves no process',
    async (fault) => {
      const orphan = await run(fault);
      expect(isAlive(orphan)).toBe(true);

      await pool.close();

      await expect.poll(() => isAlive(orphan)).toBe(false);
      expect(await readdir(temporary)).toEqual([]);
    },
  );
});

describe('a core file', () => {
  it('contains no memory of the service or of an engine, even if the machine allows core files', async () => {
    // The filter is inherited, so processes that are started later have the usual one.
    const usual = readFileSync('/proc/self/coredump_filter', 'utf8');
    writeFileSync('/proc/self/coredump_filter', '0x33');
    onTestFinished(() => writeFileSync('/proc/self/coredump_filter', `0x${usual}`));
    const engines = fileURLToPath(
      new URL('../../../../functions/engines/worker/process.ts', import.meta.url),
    );
    const script = `await import(${JSON.stringify(engines)}); const { execFileSync } = await import('node:child_process');
      process.stdout.write(execFileSync('cat', ['/proc/self/coredump_filter']));`;

    const filter = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
      encoding: 'utf8',
    });

    expect(filter.trim()).toBe('00000000');
  });
});

describe('when the service is killed', () => {
  it('an engine that hangs exits by itself', async () => {
    const script = `
      import { WorkerPool } from ${JSON.stringify(fileURLToPath(new URL('../../../../functions/engines/worker/pool.ts', import.meta.url)))};
      const pool = new WorkerPool(() => ({ command: process.execPath, args: [${JSON.stringify(FAULTS)}] }),
        { temporary: ${JSON.stringify(temporary)}, size: 1, requests: 100, memory: 200 });
      const options = { account: 'one', directory: ${JSON.stringify(temporary)}, signal: AbortSignal.timeout(60_000) };
      process.stdout.write(String(await pool.run({ operation: 'fault', arguments: { fault: 'none' } }, options)));
      await pool.run({ operation: 'fault', arguments: { fault: 'hang' } }, options);
      setInterval(() => {}, 1000);
    `;
    const service = spawn(process.execPath, ['--input-type=module-typescript', '-e', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const engine = await new Promise<number>((resolve) => {
      service.stdout.once('data', (chunk) => resolve(Number(chunk)));
    });
    await setTimeout(300);
    expect(isAlive(engine)).toBe(true);

    service.kill('SIGKILL');

    await expect.poll(() => isAlive(engine)).toBe(false);
  });
});

describe('a worker that can end cancelled requests', () => {
  beforeEach(async () => {
    await pool.close();
    pool = open({ cancellable: true });
  });

  /** Stops the timer that ends a worker which is slow to cancel a request. */
  const allowAnyTimeToCancel = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });

  it('serves the next request of its account', async () => {
    const pid = await run('none');
    allowAnyTimeToCancel();
    await expect(run('wait until it is cancelled', 500)).rejects.toMatchObject({ code: 'TIMED_OUT' });

    expect(await run('none')).toBe(pid);
  });

  it.each(['stop', 'start threads when it is cancelled'])(
    'is killed if it does not, because of: %s',
    async (fault) => {
      const pid = await run('none');
      await expect(run(fault, 500)).rejects.toMatchObject({ code: 'TIMED_OUT' });

      expect(await run('none')).not.toBe(pid);
      await expect.poll(() => isAlive(pid)).toBe(false);
    },
  );

  it('does not delay another account', async () => {
    await pool.close();
    pool = open({ cancellable: true, singleAccount: false });
    const pid = await run('none');
    await pool.warm();
    allowAnyTimeToCancel();
    await expect(run('hang', 500)).rejects.toMatchObject({ code: 'TIMED_OUT' });

    await pool.run(
      { operation: 'fault', arguments: { fault: 'none' } },
      { account: 'another', directory: temporary, signal: AbortSignal.timeout(60_000) },
    );

    expect(isAlive(pid)).toBe(true);
  });

  it('does not get a request that is cancelled before it is ready, and serves the next', async () => {
    await expect(run('none', 1)).rejects.toMatchObject({ code: 'TIMED_OUT' });

    expect(await run('none')).toBeGreaterThan(0);
  });
});
