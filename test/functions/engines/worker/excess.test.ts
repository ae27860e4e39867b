import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchExcess } from '../../../../functions/engines/worker/excess.ts';
import type { WorkerProcess } from '../../../../functions/engines/worker/process.ts';

const LIMITS = { memory: 100, disk: 1000, threads: 10 };
const MIB = 2 ** 20;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns the message with which a worker that uses this much is stopped within a second. */
async function reasonToStop({ memory = 100, threads = 10, disk = 600, deleted = 400, unlinked = 100 } = {}) {
  const worker = {
    groupState: async () => ({
      memory,
      threads,
      demand: 0,
      unlinked: { memory: unlinked * MIB, disk: deleted },
    }),
    diskUsage: async () => disk,
  } as Partial<WorkerProcess> as WorkerProcess;
  const { signal, stop } = watchExcess(worker, LIMITS);
  await vi.advanceTimersByTimeAsync(1000);
  stop();
  return (signal.reason as Error | undefined)?.message;
}

it('lets a worker use all of its limits', async () => {
  expect(await reasonToStop()).toBeUndefined();
});

it.each([
  ['memory', { memory: 101 }],
  ['memory', { unlinked: 101 }],
  ['thread', { threads: 11 }],
  ['disk space', { disk: 1001, deleted: 0 }],
  ['disk space', { deleted: 401 }],
])('stops a worker that exceeds its %s limit', async (limit, used) => {
  expect(await reasonToStop(used)).toBe(`The conversion exceeded its ${limit} limit.`);
});
