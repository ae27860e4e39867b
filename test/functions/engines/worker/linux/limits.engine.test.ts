import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { getPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { launcherIn } from '../../../../../functions/engines/worker/linux/limits.ts';
import { readStat } from '../../../../../functions/engines/worker/linux/proc.ts';
import { WorkerPool } from '../../../../../functions/engines/worker/pool.ts';
import { sessionOf } from './session-of.ts';

const STAND_IN = fileURLToPath(new URL('../fake-worker.mjs', import.meta.url));
const LAUNCHER = launcherIn('dist/layers');
const SCRIPT = '/usr/bin/script';

let temporary: string;
let pool: WorkerPool;
beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'launcher-'));
});
afterEach(async () => {
  await pool?.close();
  await rm(temporary, { recursive: true, force: true });
});

function open(launcher: readonly string[]): WorkerPool {
  const options = { temporary, launcher, size: 1, requests: 100, memory: 1000 };
  pool = new WorkerPool(() => ({ command: process.execPath, args: [STAND_IN] }), options);
  return pool;
}

const pidFor = (signal: AbortSignal) =>
  pool.run<{ pid: number }>(
    { operation: 'echo', arguments: {} },
    { account: 'one', directory: temporary, signal },
  );

describe('a launched worker', () => {
  it('has its own process group in this session, and a lower priority', async () => {
    open(LAUNCHER);
    const { pid } = await pidFor(AbortSignal.timeout(120_000));

    expect(sessionOf(pid)).toBe(sessionOf(process.pid));
    expect(readStat(pid).group).toBe(pid);
    expect(getPriority(pid)).toBe(Math.min(getPriority() + 15, 19));
  });

  it('is killed even before it has its own process group', async () => {
    const started = Date.now();
    open(['/bin/sh', '-c', 'sleep 240; exec "$@"', 'sh']);

    await expect(pidFor(AbortSignal.timeout(500))).rejects.toMatchObject({ code: 'TIMED_OUT' });
    await pool.close();

    expect(Date.now() - started).toBeLessThan(120_000);
  });

  it.runIf(existsSync(SCRIPT))('cannot open the terminal of the service (needs script)', () => {
    const command = [
      ...LAUNCHER,
      '/bin/sh',
      '-c',
      "'tty=none; (exec > /dev/tty) && tty=open; echo $tty'",
    ].join(' ');

    const output = execFileSync(
      SCRIPT,
      ['-qec', `: > /dev/tty && echo before && ${command}; true`, '/dev/null'],
      {
        encoding: 'utf8',
      },
    );

    expect(output).toContain('before');
    expect(output).toContain('none');
  });
});
