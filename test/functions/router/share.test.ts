import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createShare } from '../../../functions/router/share.ts';

/** Work that counts its runs and its ends. */
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

describe('identical requests in flight', () => {
  it('share one run, and the next one runs anew', async () => {
    const [share, work] = [createShare(), counted()];

    const together = await Promise.all([1, 2, 3].map(() => share('same', never, work.run)));
    const later = await share('same', never, work.run);

    expect(together).toEqual([1, 1, 1]);
    expect(later).toBe(2);
  });

  it('share a failure too, and the next one runs anew', async () => {
    const share = createShare();
    let runs = 0;
    const fail = async () => {
      runs += 1;
      await setTimeout(20);
      throw new Error('failed');
    };

    const outcomes = await Promise.allSettled([share('same', never, fail), share('same', never, fail)]);
    await expect(share('same', never, fail)).rejects.toThrow('failed');

    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(runs).toBe(2);
  });

  it('go on when one caller leaves, and end when the last has left', async () => {
    const [share, work] = [createShare(), counted(300)];
    const [one, other] = [new AbortController(), new AbortController()];
    const first = share('same', one.signal, work.run);
    const second = share('same', other.signal, work.run);
    first.catch(() => {});

    one.abort();
    await expect(first).rejects.toThrow();
    expect(work.stopped).toBe(0);
    expect(await second).toBe(1);

    const third = share('same', other.signal, work.run);
    other.abort();
    await expect(third).rejects.toThrow();
    expect(work.stopped).toBe(1);
  });

  it('are not joined while they are being stopped', async () => {
    const [share, work, gone] = [createShare(), counted(), new AbortController()];
    const first = share('same', gone.signal, work.run);
    gone.abort();

    const second = share('same', never, work.run);

    await expect(first).rejects.toThrow();
    expect(await second).toBe(2);
  });

  it('do not start for a caller who has gone', async () => {
    const [share, work] = [createShare(), counted()];

    await expect(share('same', AbortSignal.abort(), work.run)).rejects.toThrow();

    expect(work.runs).toBe(0);
  });
});

it('runs different requests side by side', async () => {
  const [share, work] = [createShare(), counted()];

  expect(await Promise.all([share('one', never, work.run), share('other', never, work.run)])).toEqual([1, 2]);
});
