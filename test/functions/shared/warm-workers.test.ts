import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { MAX_WARM, WarmWorkers } from '../../../functions/shared/warm-workers.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Creates workers that note in `killed` that they were killed. */
function makeWorkers(count: number) {
  const killed: number[] = [];
  const workers = Array.from({ length: count }, (_, index) => ({ kill: () => killed.push(index) }));
  return { killed, workers };
}

it('kills the workers that were used longest ago once the others need their memory', () => {
  const { killed, workers } = makeWorkers(4);
  const warm = new WarmWorkers(100);

  for (const worker of workers.slice(0, 3)) warm.keep(worker, 30);
  warm.release(workers[0]!);
  warm.keep(workers[0]!, 30);
  warm.keep(workers[3]!, 70);

  expect(killed).toEqual([1, 2]);
});

it('counts no worker that serves a request', () => {
  const { killed, workers } = makeWorkers(2);
  const warm = new WarmWorkers(100);

  warm.keep(workers[0]!, 100);
  warm.release(workers[0]!);
  warm.release(workers[0]!);
  warm.keep(workers[1]!, 100);

  expect(killed).toEqual([]);
});

it('counts spares, but keeps them, and the worker that was used last', () => {
  const { killed, workers } = makeWorkers(5);
  const warm = new WarmWorkers(100);

  warm.keepSpare(workers[0]!, 60);
  warm.keep(workers[1]!, 30);
  warm.keepSpare(workers[2]!, 60);
  expect(killed).toEqual([]);
  warm.keep(workers[3]!, 30);
  expect(killed).toEqual([1]);
  warm.release(workers[2]!);
  warm.keep(workers[4]!, 10);

  expect(killed).toEqual([1]);
});

it('knows how many workers its pools have at most', () => {
  const warm = new WarmWorkers(100);

  for (const size of [2, 3]) warm.pools.add({ size, warm: async () => {} });

  expect(warm.max).toBe(MAX_WARM + 5);
});

it('keeps no worker that alone exceeds the budget', () => {
  const { killed, workers } = makeWorkers(1);

  new WarmWorkers(100).keep(workers[0]!, 101);

  expect(killed).toEqual([0]);
});

it('bounds the number of cheap workers', () => {
  const { killed, workers } = makeWorkers(MAX_WARM + 1);
  const warm = new WarmWorkers(1_000_000);

  for (const worker of workers) warm.keep(worker, 1);

  expect(killed).toEqual([0]);
});

it('kills a worker that has been idle for a minute, if the others take over', () => {
  const { killed, workers } = makeWorkers(2);
  const warm = new WarmWorkers(100, { rests: true });
  const forever = new WarmWorkers(100);

  warm.keep(workers[0]!, 10);
  forever.keep(workers[1]!, 10);
  vi.advanceTimersByTime(59_000);
  warm.release(workers[0]!);
  warm.keep(workers[0]!, 10);
  vi.advanceTimersByTime(59_000);
  expect(killed).toEqual([]);
  vi.advanceTimersByTime(1000);

  expect(killed).toEqual([0]);
});
