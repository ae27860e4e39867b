import { expect, it } from 'vitest';
import { takeTurn } from '../../../functions/router/turn.ts';

it('lets the call of another account go on before those that one account has begun earlier', async () => {
  const order: string[] = [];
  const call = async (account: string) => {
    await takeTurn(account);
    order.push(account);
  };

  await Promise.all([...Array.from({ length: 40 }, () => call('many')), call('one')]);

  expect(order.indexOf('one')).toBeLessThan(3);
  expect(order).toHaveLength(41);
});

it('lets one call go on in each turn of the event loop', async () => {
  let turns = 0;
  let isCounting = true;
  const count = () => {
    turns += 1;
    if (isCounting) setImmediate(count);
  };
  setImmediate(count);

  await Promise.all(Array.from({ length: 20 }, () => takeTurn('many')));
  isCounting = false;

  expect(turns).toBeGreaterThanOrEqual(19);
});
