import { expect, it } from 'vitest';
import { createFairQueue } from '../../../functions/shared/fair-queue.ts';

/** Work that ends on demand. */
function manual(order: string[], name: string) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const work = () => {
    order.push(name);
    return promise;
  };
  return { work, end: resolve };
}

const tick = () => new Promise((resolve) => setImmediate(resolve));

it('respects the limits per account and in total', async () => {
  const queue = createFairQueue({ total: 3, perAccount: 2 });
  const order: string[] = [];
  const jobs = ['a1', 'a2', 'a3', 'b1', 'b2'].map((name) => manual(order, name));
  for (const [index, job] of jobs.entries()) queue.run(index < 3 ? 'a' : 'b', job.work);
  await tick();

  expect(order).toEqual(['a1', 'a2', 'b1']);
});

it('lets waiting accounts take turns', async () => {
  const queue = createFairQueue({ total: 1, perAccount: 1 });
  const order: string[] = [];
  const runs = ['a', 'a', 'a', 'a', 'b', 'c'].map((account, index) =>
    queue.run(account, async () => void order.push(`${account}${index}`)),
  );
  await Promise.all(runs);

  expect(order).toEqual(['a0', 'a1', 'b4', 'c5', 'a2', 'a3']);
});

it('removes work that stops waiting', async () => {
  const queue = createFairQueue({ total: 1, perAccount: 1 });
  const order: string[] = [];
  const first = manual(order, 'first');
  const running = queue.run('a', first.work);
  const stop = new AbortController();
  const left = queue.run('a', manual(order, 'left').work, stop.signal);
  stop.abort(new Error('the caller left'));
  await expect(left).rejects.toThrow('the caller left');
  first.end();
  await running;

  await queue.run('a', async () => void order.push('last'));

  expect(order).toEqual(['first', 'last']);
});

it('refuses more waiting work of one account than the maximum, but not that of others', async () => {
  const queue = createFairQueue({
    total: 2,
    perAccount: 1,
    maxWaiting: 1,
    tooMany: () => new Error('too many'),
  });
  const order: string[] = [];
  const first = manual(order, 'first');
  const running = queue.run('a', first.work);
  const waiting = queue.run('a', async () => void order.push('waiting'));

  await expect(queue.run('a', async () => {})).rejects.toThrow('too many');
  await queue.run('b', async () => void order.push('other'));
  first.end();
  await Promise.all([running, waiting]);

  expect(order).toEqual(['first', 'other', 'waiting']);
});

it('continues after work that failed', async () => {
  const queue = createFairQueue({ total: 1, perAccount: 1 });
  const failed = queue.run('a', async () => {
    throw new Error('no luck');
  });
  await expect(failed).rejects.toThrow('no luck');

  expect(await queue.run('a', async () => 'fine')).toBe('fine');
});
