import { expect, it } from 'vitest';
import { runAhead } from '../../../functions/shared/run-ahead.ts';

it('yields results in the order of the items, and starts only some ahead', async () => {
  const started: number[] = [];
  const finish = new Map<number, () => void>();
  const run = (item: number) => {
    started.push(item);
    return new Promise<string>((resolve) => finish.set(item, () => resolve(`done ${item}`)));
  };
  const results = runAhead([1, 2, 3, 4], 2, run);

  const first = results.next();
  await Promise.resolve();
  expect(started).toEqual([1, 2]);
  finish.get(2)!();
  finish.get(1)!();

  expect((await first).value).toBe('done 1');
  expect((await results.next()).value).toBe('done 2');
  expect(started).toEqual([1, 2, 3]);
});

it('waits for everything that was started before it fails', async () => {
  const ended: string[] = [];
  const run = async (item: string) => {
    if (item === 'bad') throw new Error(item);
    await new Promise(setImmediate);
    ended.push(item);
  };

  await expect(Array.fromAsync(runAhead(['bad', 'good', 'late'], 2, run))).rejects.toThrow('bad');

  expect(ended).toEqual(['good']);
});
