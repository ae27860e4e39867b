import { describe, expect, it } from 'vitest';
import { withStallTimeout } from '../../../functions/pdftools/stall-timeout.ts';

const request = () => ({ tenant: 'test', signal: new AbortController().signal });
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe('withStallTimeout', () => {
  it('waits for work that goes on', async () => {
    const answer = await withStallTimeout(request(), 60, async ({ onEvent, signal }) => {
      for (let page = 0; page < 5; page += 1) {
        onEvent?.({ page });
        await pause(30);
      }
      return signal.aborted;
    });

    expect(answer).toBe(false);
  });

  it('does not count the time before the work starts', async () => {
    const answer = await withStallTimeout(request(), 20, async ({ signal }) => {
      await pause(60);
      return signal.aborted;
    });

    expect(answer).toBe(false);
  });

  it('ends work that falls silent', async () => {
    const reason = await withStallTimeout(request(), 20, async ({ onEvent, signal }) => {
      onEvent?.({ started: true });
      await pause(60);
      return signal.reason;
    });

    expect(reason).toMatchObject({ code: 'TIMED_OUT' });
  });
});
