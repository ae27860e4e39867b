import { expect, it } from 'vitest';
import { inThread } from '../../../../../functions/shared/worker/linux/watch/in-thread.ts';

const double = (number: number) => 2 * number;

it('calls the function here if the thread cannot be started, each time', async () => {
  const call = inThread('/no/such/script.mjs', double);

  expect(await Promise.all([call(1), call(2)])).toEqual([2, 4]);
  expect(await call(3)).toBe(6);
});
