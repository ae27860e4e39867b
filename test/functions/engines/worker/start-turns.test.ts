import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { inTurn } from '../../../../functions/engines/worker/start-turns.ts';

/** Blocks the thread, as the start of a process does. */
function block(milliseconds: number) {
  const began = performance.now();
  while (performance.now() - began < milliseconds);
  return { began, ended: performance.now(), ready: Promise.resolve() };
}

it('leaves as much time to other work as a start takes', async () => {
  const starts = await Promise.all([20, 10, 0].map((milliseconds) => inTurn(() => block(milliseconds))));

  const pauses = starts.slice(1).map(({ began }, index) => began - starts[index]!.ended);
  expect(pauses[0]).toBeGreaterThanOrEqual(19);
  expect(pauses[1]).toBeGreaterThanOrEqual(9);
});

it('starts as many workers at a time as there are processors', async () => {
  const workers = Array.from({ length: availableParallelism() + 1 }, () => Promise.withResolvers<void>());
  let started = 0;
  const starts = workers.map(({ promise }) =>
    inTurn(() => {
      started += 1;
      return { ready: promise };
    }),
  );
  await setTimeout(200);
  const startedTogether = started;
  workers[0]!.reject(new Error('It has exited.'));
  await starts.at(-1);
  for (const { resolve } of workers) resolve();

  expect(startedTogether).toBe(availableParallelism());
  expect(started).toBe(workers.length);
});

it('does not wait for a worker that hangs', async () => {
  const never = new Promise<void>(() => {});
  const hanging = Array.from({ length: availableParallelism() }, () => inTurn(() => ({ ready: never })));
  await Promise.all(hanging);
  const began = performance.now();

  await inTurn(() => undefined);

  expect(performance.now() - began).toBeGreaterThan(1500);
  expect(performance.now() - began).toBeLessThan(4000);
});

it('goes on after a start that failed', async () => {
  const failed = inTurn(() => {
    throw new Error('EAGAIN');
  });

  await expect(failed).rejects.toThrow('EAGAIN');
  expect(await inTurn(() => undefined)).toBeUndefined();
});
