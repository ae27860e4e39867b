import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ownMemory, processTree } from '../../../../../functions/engines/worker/linux/proc.ts';
import { withMemoryGuard } from '../../../../../functions/platform/aws/lambda/tool-handler.ts';

const never = new AbortController().signal;

/** Rejects with the reason of an abort. */
function waitFor(signal: AbortSignal, milliseconds: number): Promise<unknown> {
  return setTimeout(milliseconds, 'done', { signal }).catch(() => {
    throw signal.reason;
  });
}

it('aborts work when a child process uses up the memory of the function', async () => {
  const limit = (ownMemory(processTree(process.pid)) + 300) / 0.9;
  const hungry = spawn(process.execPath, [
    '-e',
    'const a = Buffer.alloc(6e8, 1); setInterval(() => a, 1000)',
  ]);

  const work = withMemoryGuard(limit, never, (signal) => waitFor(signal, 200_000));

  await expect(work).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: expect.stringMatching(/memory/),
  });
  hungry.kill('SIGKILL');
  await once(hungry, 'exit');
});

it('does not affect work that needs less', async () => {
  expect(await withMemoryGuard(100_000, never, (signal) => waitFor(signal, 600))).toBe('done');
});

it('passes on an abort of the caller', async () => {
  const work = withMemoryGuard(100_000, AbortSignal.timeout(100), (signal) => waitFor(signal, 20_000));

  await expect(work).rejects.toMatchObject({ name: 'TimeoutError' });
});
