import { expect, it } from 'vitest';
import { inTurn } from '../../../../functions/engines/worker/start-turns.ts';

/** Blocks the thread, as the start of a process does. */
function block(milliseconds: number): { readonly began: number; readonly ended: number } {
  const began = performance.now();
  while (performance.now() - began < milliseconds);
  return { began, ended: performance.now() };
}

it('leaves as much time to other work as a start takes', async () => {
  const starts = await Promise.all([20, 10, 0].map((milliseconds) => inTurn(() => block(milliseconds))));

  const pauses = starts.slice(1).map(({ began }, index) => began - starts[index]!.ended);
  expect(pauses[0]).toBeGreaterThanOrEqual(19);
  expect(pauses[1]).toBeGreaterThanOrEqual(9);
});

it('goes on after a start that failed', async () => {
  const failed = inTurn(() => {
    throw new Error('EAGAIN');
  });

  await expect(failed).rejects.toThrow('EAGAIN');
  expect(await inTurn(() => 'started')).toBe('started');
});
