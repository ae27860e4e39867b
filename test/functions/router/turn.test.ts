import { expect, it } from 'vitest';
import { takeTurn } from '../../../functions/router/turn.ts';

/** Blocks the thread for milliseconds, as the beginning of a call does. */
function work(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

/** Counts turns of the event loop while `calls` go on. */
async function turnsOf(calls: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isCounting = true;
  const count = () => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  await calls();
  isCounting = false;
  return turns;
}

const many = (calls: number, milliseconds: number) =>
  Promise.all(
    Array.from({ length: calls }, async () => {
      await takeTurn('many');
      work(milliseconds);
    }),
  );

it('spreads the long calls of a caller over turns of the event loop', async () => {
  const turns = await turnsOf(() => many(20, 6));

  // At most two of them fit into a turn.
  expect(turns).toBeGreaterThanOrEqual(9);
});

it('lets short calls go on in the same turn', async () => {
  const turns = await turnsOf(() => many(50, 0));

  expect(turns).toBeLessThan(25);
});

it('lets the call of another caller go on beside those that one has begun', async () => {
  const order: string[] = [];
  const other = async () => {
    await takeTurn('one');
    order.push('one');
  };
  const calls = Array.from({ length: 40 }, async () => {
    await takeTurn('many');
    work(6);
    order.push('many');
  });

  await Promise.all([...calls, other()]);

  expect(order.indexOf('one')).toBeLessThan(3);
  expect(order).toHaveLength(41);
});

it('counts calls that arrive one after another in the same turn', async () => {
  const turns = await turnsOf(async () => {
    for (let call = 0; call < 10; call += 1) await many(1, 6);
  });

  expect(turns).toBeGreaterThanOrEqual(4);
});
