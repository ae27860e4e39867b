import { expect, it } from 'vitest';
import { takeTurn } from '../../../functions/router/turn.ts';

/** Counts turns of the event loop until `end`. */
function countTurns() {
  let turns = 0;
  let isCounting = true;
  const count = () => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);
  return {
    end: () => {
      isCounting = false;
      return turns;
    },
  };
}

it('lets the call of a caller go on at once, beside those that another one has begun', async () => {
  const order: string[] = [];
  const call = async (caller: string) => {
    await takeTurn(caller);
    order.push(caller);
  };

  await Promise.all([...Array.from({ length: 40 }, () => call('many')), call('one')]);

  expect(order.indexOf('one')).toBeLessThan(3);
  expect(order).toHaveLength(41);
});

it('lets one call of a caller go on in each turn of the event loop', async () => {
  const turns = countTurns();

  await Promise.all(Array.from({ length: 20 }, () => takeTurn('many')));

  expect(turns.end()).toBeGreaterThanOrEqual(18);
});

it('does not delay a caller that has had its turn', async () => {
  await takeTurn('one');
  await new Promise((resolve) => setTimeout(resolve, 5));
  const turns = countTurns();

  await takeTurn('one');

  expect(turns.end()).toBe(0);
});
