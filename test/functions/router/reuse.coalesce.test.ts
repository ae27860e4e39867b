import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createCoalescer } from '../../../functions/router/reuse.ts';

/** Work that counts how often it is started and aborted. */
function counted(time = 100) {
  const work = { runs: 0, stopped: 0, run: (_signal: AbortSignal): Promise<number> => Promise.resolve(0) };
  work.run = async (signal) => {
    const number = ++work.runs;
    signal.addEventListener('abort', () => work.stopped++);
    await setTimeout(time, undefined, { signal });
    return number;
  };
  return work;
}

const never = new AbortController().signal;

describe('identical concurrent requests', () => {
  it('share one run, and a later one starts another', async () => {
    const [coalesce, work] = [createCoalescer(), counted()];

    const together = await Promise.all([1, 2, 3].map(() => coalesce('same', never, work.run)));
    const later = await coalesce('same', never, work.run);

    expect(together).toEqual([1, 1, 1]);
    expect(later).toBe(2);
  });

  it('share a failure, and a later one starts another run', async () => {
    const coalesce = createCoalescer();
    let runs = 0;
    const fail = async () => {
      runs += 1;
      await setTimeout(20);
      throw new Error('failed');
    };

    const outcomes = await Promise.allSettled([coalesce('same', never, fail), coalesce('same', never, fail)]);
    await expect(coalesce('same', never, fail)).rejects.toThrow('failed');

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(runs).toBe(2);
  });

  it('continue when one caller disconnects, and end when the last one does', async () => {
    const [coalesce, work] = [createCoalescer(), counted(300)];
    const [one, other] = [new AbortController(), new AbortController()];
    const first = coalesce('same', one.signal, work.run);
    const second = coalesce('same', other.signal, work.run);
    first.catch(() => {});

    one.abort();
    await expect(first).rejects.toThrow();
    expect(work.stopped).toBe(0);
    expect(await second).toBe(1);

    const third = coalesce('same', other.signal, work.run);
    other.abort();
    await expect(third).rejects.toThrow();
    expect(work.stopped).toBe(1);
  });

  it('are not joined while they are being aborted', async () => {
    const [coalesce, work, gone] = [createCoalescer(), counted(), new AbortController()];
    const first = coalesce('same', gone.signal, work.run);
    gone.abort();

    const second = coalesce('same', never, work.run);

    await expect(first).rejects.toThrow();
    expect(await second).toBe(2);
  });

  it('do not start for a caller that has disconnected', async () => {
    const [coalesce, work] = [createCoalescer(), counted()];

    await expect(coalesce('same', AbortSignal.abort(), work.run)).rejects.toThrow();

    expect(work.runs).toBe(0);
  });
});

it('runs different requests concurrently', async () => {
  const [coalesce, work] = [createCoalescer(), counted()];

  expect(await Promise.all([coalesce('one', never, work.run), coalesce('other', never, work.run)])).toEqual([
    1, 2,
  ]);
});
