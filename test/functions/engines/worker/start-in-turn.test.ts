import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { afterEach, expect, it, vi } from 'vitest';
import { startInTurn } from '../../../../functions/engines/worker/start-in-turn.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Stops the clock that tells when a worker has been starting for too long. */
const stopClock = () => vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });

/** Blocks the thread, as the start of a process does. */
function block(milliseconds: number) {
  const began = performance.now();
  while (performance.now() - began < milliseconds);
  return { began, ended: performance.now(), ready: Promise.resolve() };
}

it('leaves as much time to other work as a start takes', async () => {
  const starts = await Promise.all([20, 10, 0].map((milliseconds) => startInTurn(() => block(milliseconds))));

  const pauses = starts.slice(1).map(({ began }, index) => began - starts[index]!.ended);
  expect(pauses[0]).toBeGreaterThanOrEqual(19);
  expect(pauses[1]).toBeGreaterThanOrEqual(9);
});

it('starts as many workers at a time as there are processors', async () => {
  stopClock();
  const workers = Array.from({ length: availableParallelism() + 1 }, () => Promise.withResolvers<void>());
  let started = 0;
  const starts = workers.map(({ promise }) =>
    startInTurn(() => {
      started += 1;
      return { ready: promise };
    }),
  );
  await expect.poll(() => started).toBe(availableParallelism());
  await setTimeout(200);
  const startedTogether = started;
  workers[0]!.reject(new Error('It has exited.'));
  await starts.at(-1);
  for (const { resolve } of workers) resolve();

  expect(startedTogether).toBe(availableParallelism());
  expect(started).toBe(workers.length);
});

it('does not wait for a worker that hangs', async () => {
  stopClock();
  const never = new Promise<void>(() => {});
  const hanging = Array.from({ length: availableParallelism() }, () => startInTurn(() => ({ ready: never })));
  await Promise.all(hanging);
  const start = vi.fn();
  const next = startInTurn(start);

  await vi.advanceTimersByTimeAsync(1900);
  await setTimeout(200);
  expect(start).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(100);
  await next;
  expect(start).toHaveBeenCalled();
});

it('goes on after a start that failed', async () => {
  const failed = startInTurn(() => {
    throw new Error('EAGAIN');
  });

  await expect(failed).rejects.toThrow('EAGAIN');
  expect(await startInTurn(() => undefined)).toBeUndefined();
});
