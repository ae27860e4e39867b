import { expect, it } from 'vitest';
import { inTurn, noteKill } from '../../../../functions/engines/worker/start-turns.ts';

/** Blocks the thread, as the start of a process does. */
function block(milliseconds: number): { readonly began: number; readonly ended: number } {
  const began = performance.now();
  while (performance.now() - began < milliseconds);
  return { began, ended: performance.now() };
}

it('leaves four times the duration of a start to other work after a kill', async () => {
  noteKill();

  const starts = await Promise.all([20, 10, 0].map((milliseconds) => inTurn(() => block(milliseconds))));

  const pauses = starts.slice(1).map(({ began }, index) => began - starts[index]!.ended);
  expect(pauses[0]).toBeGreaterThanOrEqual(79);
  expect(pauses[1]).toBeGreaterThanOrEqual(39);
});

it('goes on after a start that failed', async () => {
  const failed = inTurn(() => {
    throw new Error('EAGAIN');
  });

  await expect(failed).rejects.toThrow('EAGAIN');
  expect(await inTurn(() => 'started')).toBe('started');
});
