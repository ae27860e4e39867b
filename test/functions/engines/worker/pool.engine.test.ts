import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EngineState, observeAll } from '../../../../functions/engines/worker/observer.ts';
import {
  WorkerPool,
  type WorkerPoolOptions,
  type WorkerRequest,
} from '../../../../functions/engines/worker/pool.ts';
import { startInTurn } from '../../../../functions/engines/worker/start-in-turn.ts';

const STAND_IN = fileURLToPath(new URL('fake-worker.mjs', import.meta.url));

let temporary: string;
const pools: WorkerPool[] = [];

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'engines-'));
});

afterEach(async () => {
  vi.useRealTimers();
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
  await rm(temporary, { recursive: true, force: true });
});

function open(options: Partial<WorkerPoolOptions> = {}, args: readonly string[] = []): WorkerPool {
  const pool = new WorkerPool(() => ({ command: process.execPath, args: [STAND_IN, ...args] }), {
    temporary,
    size: 2,
    // A spare for another account would take as long to start as the worker.
    singleAccount: true,
    requests: 100,
    memory: 1000,
    ...options,
  });
  pools.push(pool);
  return pool;
}

function ask(options: Partial<WorkerRequest> = {}): WorkerRequest {
  return {
    account: 'one',
    directory: join(temporary, 'conversion'),
    signal: AbortSignal.timeout(120_000),
    ...options,
  };
}

const task = (operation: string, given: object = {}) => ({ operation, arguments: given });

/** Returns the process ID of an account's worker. */
async function pidFor(pool: WorkerPool, account = 'one'): Promise<number> {
  const { pid } = await pool.run<{ pid: number }>(task('echo'), ask({ account }));
  return pid;
}

function isAlive(pid: number): boolean {
  try {
    // A zombie has no command line left.
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8') !== '';
  } catch {
    return false;
  }
}

describe('a request', () => {
  it('rejects immediately and starts no worker if it is cancelled before its worker starts', async () => {
    const starting = vi.fn();
    const pool = open({ observer: { starting } });
    const stop = new AbortController();
    await startInTurn(() => {
      for (const end = performance.now() + 1000; performance.now() < end; );
      return undefined;
    });
    const order: string[] = [];

    const cancelled = pool
      .run(task('echo'), ask({ signal: stop.signal }))
      .catch(() => order.push('cancelled'));
    const next = startInTurn(() => {
      order.push('next start');
      return undefined;
    });
    await setImmediate();
    stop.abort();
    await Promise.all([cancelled, next]);

    expect(order).toEqual(['cancelled', 'next start']);
    expect(starting).not.toHaveBeenCalledWith('demand');
  });

  it('ends with the result or the error that the engine reports, and the process continues', async () => {
    const pool = open({ messages: { RESULT_TOO_LARGE: ({ sheet }) => `Sheet ${sheet} is too large.` } });
    const before = await pidFor(pool);
    const events: number[] = [];
    const onHeartbeat = (done: number) => void events.push(done);
    const failure = (name: string, code: string) =>
      pool.run(task(name, { code }), ask()).catch((thrown: unknown) => thrown);

    expect(await pool.run(task('pages', { count: 3 }), ask({ onHeartbeat }))).toBe(3);
    expect(events).toEqual([1, 2, 3]);
    expect(await pool.run(task('answer another request'), ask())).toBe('new');
    expect(await pool.run(task('noise'), ask())).toBe('heard');
    expect(await failure('fail', 'CORRUPT_SOURCE')).toMatchObject({
      code: 'CORRUPT_SOURCE',
      message: 'The document is damaged.',
    });
    expect(await failure('fail with values', 'RESULT_TOO_LARGE')).toMatchObject({
      code: 'RESULT_TOO_LARGE',
      message: 'Sheet 3 is too large.',
      details: { sheet: 3 },
    });
    // The first is unknown, and the second has no message.
    expect(await failure('fail', 'PWNED')).toMatchObject({ code: 'INTERNAL' });
    expect(await failure('fail with values', 'WRONG_PASSWORD')).toMatchObject({ code: 'INTERNAL' });
    expect(await pidFor(pool)).toBe(before);
  });

  it('fails with what the engine said about it, and not about the one before', async () => {
    const pool = open();
    const failure = async (name: string, given: object) =>
      pool.run(task(name, given), ask()).catch((thrown: unknown) => thrown);

    const said = await failure('say why and fail', { says: 'loaded\nerror: expected endobj\n' });
    const silent = await failure('fail', { code: 'CORRUPT_SOURCE' });

    expect(said).toMatchObject({ code: 'CORRUPT_SOURCE', cause: 'error: expected endobj' });
    expect(silent).not.toMatchObject({ cause: expect.anything() });
  });

  it('gets a warm process', async () => {
    const pool = open();
    await pool.warm();

    const pids = [await pidFor(pool), await pidFor(pool), await pidFor(pool)];

    expect(new Set(pids).size).toBe(1);
  });
});

describe('a crash', () => {
  it('is retried once, in a fresh process', async () => {
    const mark = join(temporary, 'mark');

    expect(await open().run(task('crash once', { mark }), ask())).toBe('second time');
  });

  it.each(['crash after an event', 'babble', 'no line end'])(
    'is CONVERSION_FAILED the second time, and the next request succeeds: %s',
    async (name) => {
      const pool = open();
      const before = await pidFor(pool);

      const failed = pool.run(task(name), ask());

      await expect(failed).rejects.toMatchObject({
        code: 'CONVERSION_FAILED',
        message: 'The conversion failed: the engine crashed on this source.',
        cause: { atStart: false },
      });
      expect(await pidFor(pool)).not.toBe(before);
    },
  );

  it('does not count if the process was already broken', async () => {
    const mark = join(temporary, 'mark');

    expect(await open().run(task('unusable', { mark, times: 3 }), ask())).toBe('fit');
  });

  it('is INTERNAL if more workers are unusable than the pool keeps', async () => {
    const mark = join(temporary, 'mark');

    const failed = open().run(task('unusable', { mark, times: 4 }), ask());

    await expect(failed).rejects.toMatchObject({ code: 'INTERNAL', cause: { unusable: true } });
  });

  it('is INTERNAL for an engine that cannot start, and closing does not wait for it', async () => {
    const broken = open({}, ['broken']);
    const missing = new WorkerPool(() => ({ command: '/nowhere/engine', args: [] }), {
      temporary,
      size: 1,
      requests: 1,
      memory: 1,
    });

    const failure = { code: 'INTERNAL', cause: { atStart: true } };
    await expect(broken.run(task('echo'), ask())).rejects.toMatchObject(failure);
    await expect(missing.run(task('echo'), ask())).rejects.toMatchObject(failure);
    await missing.close();
    await broken.close();
    expect(await readdir(temporary)).toEqual([]);
  });

  it('of two starting workers does not fail the request', async () => {
    let starts = 0;
    const command = () => {
      starts += 1;
      return starts <= 2
        ? { command: process.execPath, args: ['--eval', 'process.exit(1)'] }
        : { command: process.execPath, args: [STAND_IN] };
    };
    const pool = new WorkerPool(command, { temporary, size: 1, requests: 10, memory: 100_000 });
    pools.push(pool);

    expect(await pool.run(task('echo', { value: 1 }), ask())).toMatchObject({ value: 1 });
    expect(starts).toBeGreaterThan(2);
  });

  it('during startup is logged with the reason that the engine gives', async () => {
    const reasons: string[] = [];
    const failed = (reason: string) => void reasons.push(reason);
    const observer = Object.assign(new EngineState(), { failed });

    const result = open({ observer }, ['unstarted']).run(task('echo'), ask());

    const reason = 'The worker exited: The machine lacks something.';
    await expect(result).rejects.toMatchObject({
      code: 'INTERNAL',
      cause: { atStart: true, message: reason },
    });
    expect(reasons).toContain(reason);
  });

  it.each([
    ['down', 'no other works', 0],
    ['up', 'another works', 1],
  ])('of a worker that is not ready in time means %s if %s', async (status, _, workers) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const reasons: string[] = [];
    const note = (reason: string) => void reasons.push(reason);
    const state = new EngineState();
    const observer = observeAll(state, { failed: note, late: note });
    let working = workers;
    // All after the working ones never become ready.
    const command = () =>
      working-- > 0 ? { command: process.execPath, args: [STAND_IN] } : { command: 'sleep', args: ['60'] };
    const pool = new WorkerPool(command, { temporary, size: 2, requests: 100, memory: 1000, observer });
    pools.push(pool);
    pool.warm().catch(() => {});
    if (workers > 0) await pidFor(pool);
    await expect.poll(() => working).toBeLessThan(0);

    await vi.advanceTimersByTimeAsync(31_000);

    await expect.poll(() => reasons).toEqual(['The worker exited: it was not ready in time.']);
    expect(state.status).toBe(status);
  });

  it('does not count as a hang while a worker starts slowly because other programs use the processors', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    const reasons: string[] = [];
    const observer = { late: (reason: string) => void reasons.push(reason) };
    const busy = 'for (const end = Date.now() + 2000; Date.now() < end; );';
    const args = ['--eval', `${busy} import(${JSON.stringify(STAND_IN)})`];
    const pool = new WorkerPool(() => ({ command: process.execPath, args }), {
      temporary,
      size: 1,
      requests: 10,
      memory: 1000,
      observer,
    });
    pools.push(pool);

    const answer = pool.run(task('echo', { value: 1 }), ask());
    for (let tick = 0; tick < 20; tick += 1) {
      await setTimeout(60);
      await vi.advanceTimersByTimeAsync(1000);
    }

    expect(await answer).toMatchObject({ value: 1 });
    expect(reasons).toEqual([]);
  });

  it('of an idle process is not visible to callers', async () => {
    const pool = open();
    const pid = await pidFor(pool);
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => isAlive(pid)).toBe(false);
    await setTimeout(50);

    expect(await pidFor(pool)).not.toBe(pid);
  });
});

describe('a hang', () => {
  it('is TIMED_OUT at the deadline, is not retried, and leaves no process of the group', async () => {
    const mark = join(temporary, 'mark');
    const deadline = new AbortController();
    const hung = open().run(task('hang', { mark }), ask({ signal: deadline.signal }));
    await expect.poll(() => existsSync(mark)).toBe(true);

    const first = readFileSync(mark, 'utf8');
    const pids = JSON.parse(first) as number[];

    deadline.abort(new DOMException('', 'TimeoutError'));

    await expect(hung).rejects.toMatchObject({ code: 'TIMED_OUT' });
    expect(readFileSync(mark, 'utf8')).toBe(first);
    expect(pids).toHaveLength(2);
    await expect.poll(() => pids.some(isAlive)).toBe(false);
  });

  it('does not start if the caller has disconnected or the deadline has passed', async () => {
    const pool = open();

    await expect(pool.run(task('echo'), ask({ signal: AbortSignal.abort() }))).rejects.toThrow();
    await expect(pool.run(task('echo'), ask({ signal: AbortSignal.timeout(0) }))).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
  });
});

describe('a process', () => {
  it('serves only one account', async () => {
    const pool = open({ singleAccount: false });
    const owners = ['one', 'two', 'three', 'one', 'two', 'four', 'one', 'three'];

    const served = new Map<number, Set<string>>();
    for (const account of owners) {
      const pid = await pidFor(pool, account);
      served.set(pid, (served.get(pid) ?? new Set()).add(account));
    }

    expect(served.size).toBeGreaterThanOrEqual(4);
    for (const accounts of served.values()) expect(accounts.size).toBe(1);
  });

  it('serves one request at a time and only one account under load', async () => {
    const pool = open({ singleAccount: false });
    const work = Array.from({ length: 24 }, (_, index) => ({ value: index, account: `owner ${index % 3}` }));

    const answers = await Promise.all(
      work.map(async ({ value, account }) => {
        const answer = await pool.run<{ value: number; pid: number }>(
          task('echo', { value }),
          ask({ account }),
        );
        return { ...answer, account };
      }),
    );

    expect(answers.map(({ value }) => value)).toEqual(work.map(({ value }) => value));
    const owners = new Map(answers.map(({ pid, account }) => [pid, account]));
    for (const { pid, account } of answers) expect(owners.get(pid)).toBe(account);
  });

  it('is replaced after its maximum number of requests', async () => {
    const pool = open({ requests: 2 });

    const pids = [await pidFor(pool), await pidFor(pool), await pidFor(pool)];

    expect(pids[0]).toBe(pids[1]);
    expect(pids[2]).not.toBe(pids[1]);
    await expect.poll(() => isAlive(pids[0]!)).toBe(false);
  });

  it('is replaced after a result that it marks as its last', async () => {
    const pool = open();
    const { pid } = await pool.run<{ pid: number }>(task('echo', { last: true }), ask());

    expect(await pidFor(pool)).not.toBe(pid);
  });

  it('is replaced when it uses too much memory', async () => {
    const pool = open({ memory: 150 });
    const small = await pidFor(pool);

    const grown = await pool.run<number>(task('grow', { mebibytes: 200 }), ask());

    expect(grown).toBe(small);
    expect(await pidFor(pool)).not.toBe(small);
    await expect.poll(() => isAlive(small)).toBe(false);
  });

  it('gets no environment variables of the service', async () => {
    const pool = open();
    process.env.AWS_SECRET_ACCESS_KEY = 'secret';

    const environment = await pool.run<Record<string, string>>(task('environment'), ask());
    delete process.env.AWS_SECRET_ACCESS_KEY;

    const { HOME, TMPDIR, PATH, LANG, cwd, ...rest } = environment;
    expect(rest).toEqual({});
    expect({ PATH, LANG }).toEqual({ PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' });
    expect(HOME).toMatch(new RegExp(`^${temporary}/engine-`));
    expect([TMPDIR, cwd]).toEqual([HOME, HOME]);
  });

  it('removes its home directory, even if something is still writing to it', async () => {
    const pool = open();
    const { HOME } = await pool.run<Record<string, string>>(task('environment'), ask());
    expect(existsSync(HOME!)).toBe(true);

    for (let time = 0; time < 2; time++) {
      await pool.run(task('hang'), ask({ signal: AbortSignal.timeout(150) })).catch(() => {});
    }
    await pool.close();

    expect(readdirSync(temporary)).toEqual([]);
  });
});

describe('the pool', () => {
  it('runs as many concurrent requests as its size, and the others wait', async () => {
    const pool = open({ size: 2 });

    const pids = await Promise.all(
      Array.from({ length: 4 }, () => pool.run<number>(task('wait', { milliseconds: 100 }), ask())),
    );

    expect(new Set(pids).size).toBe(2);
  });

  it('ends a waiting request at its deadline and gives its turn to the next', async () => {
    const pool = open({ size: 1 });
    const busy = pool.run(task('wait', { milliseconds: 600 }), ask());
    const late = pool.run(task('echo'), ask({ signal: AbortSignal.timeout(100) }));
    const patient = pool.run(task('echo', { value: 'patient' }), ask());

    await expect(late).rejects.toMatchObject({ code: 'TIMED_OUT' });
    expect(await patient).toMatchObject({ value: 'patient' });
    await busy;
  });

  it('keeps at most as many idle workers as its size, and one spare', async () => {
    const pool = open({ size: 2, singleAccount: false });

    for (let owner = 0; owner < 6; owner++) await pidFor(pool, randomBytes(4).toString('hex'));

    await expect.poll(() => readdirSync(temporary)).toHaveLength(3);
  });

  it('keeps no spare beside the worker of a single account until that has exited', async () => {
    const pool = open();

    const first = await pidFor(pool);
    const again = await pidFor(pool);
    const alone = readdirSync(temporary).length;
    await expect(pool.run(task('crash'), ask())).rejects.toMatchObject({ code: 'CONVERSION_FAILED' });

    expect([again, alone]).toEqual([first, 1]);
    await expect.poll(() => readdirSync(temporary)).toHaveLength(1);
    expect(await pidFor(pool)).not.toBe(first);
  });

  it('ends every process when it closes, and starts no other', async () => {
    const pool = open();
    const pids = [await pidFor(pool, 'one'), await pidFor(pool, 'two')];

    await pool.close();
    await pool.warm();

    expect(pids.some(isAlive)).toBe(false);
    expect(await readdir(temporary)).toEqual([]);
  });

  it('ends the processes of running requests when it closes', async () => {
    const mark = join(temporary, 'mark');
    const pool = open();
    const hung = pool.run(task('hang', { mark }), ask());
    hung.catch(() => {});
    await expect.poll(() => existsSync(mark)).toBe(true);

    await pool.close();

    await expect(hung).rejects.toMatchObject({ code: 'OVERLOADED' });
    await expect(pool.run(task('echo'), ask())).rejects.toMatchObject({ code: 'OVERLOADED' });
    const pids = JSON.parse(readFileSync(mark, 'utf8')) as number[];
    await expect.poll(() => pids.some(isAlive)).toBe(false);
    expect((await readdir(temporary)).filter((name) => name !== 'mark')).toEqual([]);
  });
});

it('is killed before the server when memory runs out', async () => {
  const scoreOf = (pid: number) => Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'));

  expect(scoreOf(await pidFor(open()))).toBeGreaterThanOrEqual(300);
});
