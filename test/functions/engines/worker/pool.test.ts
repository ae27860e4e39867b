import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withStallTimeout } from '../../../../functions/engines/worker/pool.ts';

const request = () => ({ account: 'test', directory: '', signal: new AbortController().signal });
const pause = (milliseconds: number) => vi.advanceTimersByTimeAsync(milliseconds);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe('withStallTimeout', () => {
  it('waits for work that makes progress', async () => {
    const aborted = await withStallTimeout(
      request(),
      { stall: 60, page: 1000 },
      async ({ onHeartbeat, signal }) => {
        for (let page = 0; page < 5; page += 1) {
          onHeartbeat?.(page);
          await pause(30);
        }
        return signal.aborted;
      },
    );

    expect(aborted).toBe(false);
  });

  it('does not count the time before the work starts', async () => {
    const aborted = await withStallTimeout(request(), { stall: 20, page: 1000 }, async ({ signal }) => {
      await pause(60);
      return signal.aborted;
    });

    expect(aborted).toBe(false);
  });

  it('ends work without progress', async () => {
    const reason = await withStallTimeout(
      request(),
      { stall: 20, page: 1000 },
      async ({ onHeartbeat, signal }) => {
        onHeartbeat?.(0);
        await pause(60);
        return signal.reason;
      },
    );

    expect(reason).toMatchObject({ code: 'TIMED_OUT' });
  });

  it('ends a page that takes too long although it makes progress', async () => {
    const reason = await withStallTimeout(
      request(),
      { stall: 1000, page: 60 },
      async ({ onHeartbeat, signal }) => {
        onHeartbeat?.(0);
        for (let step = 0; step < 5; step += 1) {
          await pause(20);
          onHeartbeat?.(0);
        }
        return signal.reason;
      },
    );

    expect(reason).toMatchObject({ code: 'TIMED_OUT' });
  });
});
