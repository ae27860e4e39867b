import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { untilAborted, within, withTimeout } from '../../../functions/shared/timeout.ts';

const never = new AbortController().signal;
const hang = (signal: AbortSignal) => setTimeout(60_000, undefined, { signal });
const own = new ConversionError('SOURCE_TIMEOUT', 'Too slow.');

describe('withTimeout', () => {
  it('returns what the work returns', async () => {
    expect(await withTimeout(1000, never, async () => 7)).toBe(7);
  });

  it('rejects with TIMED_OUT, not with the error that the abort caused below', async () => {
    await expect(withTimeout(20, never, hang)).rejects.toMatchObject({
      code: 'TIMED_OUT',
      message: 'The conversion timed out.',
    });
  });

  it('rejects with the error it was given', async () => {
    await expect(withTimeout(20, never, hang, () => own)).rejects.toBe(own);
  });

  it('rejects immediately for a time in the past', async () => {
    await expect(withTimeout(-5, never, hang)).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  it('rejects with the reason of an outer abort', async () => {
    const outer = new AbortController();
    const ended = withTimeout(5000, outer.signal, hang);
    outer.abort(own);

    await expect(ended).rejects.toBe(own);
  });

  it('turns an abort without an error for callers into TIMED_OUT', async () => {
    await expect(withTimeout(5000, AbortSignal.timeout(10), hang)).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
  });

  it('keeps an error from before the timeout', async () => {
    await expect(withTimeout(5000, never, () => Promise.reject(own))).rejects.toBe(own);
  });
});

describe('untilAborted', () => {
  it('stops waiting for work that ignores the signal', async () => {
    await expect(
      untilAborted(AbortSignal.timeout(10), setTimeout(60_000, 1, { ref: false })),
    ).rejects.toMatchObject({ code: 'TIMED_OUT' });
  });

  it('does not wait if the signal has aborted already', async () => {
    const work = setTimeout(60_000, 1, { ref: false });

    await expect(untilAborted(AbortSignal.abort(own), work)).rejects.toBe(own);
  });
});

describe('within', () => {
  it('returns undefined, or throws the given error, when the time is over', async () => {
    const work = setTimeout(60_000, 1, { ref: false });

    expect(await within(10, work)).toBeUndefined();
    await expect(within(10, work, own)).rejects.toBe(own);
  });
});
