import { describe, expect, it } from 'vitest';
import { retryUpload } from '../../../../functions/platform/aws/post-form.ts';
import { ConversionError } from '../../../../functions/shared/errors.ts';

const signal = new AbortController().signal;

/** Uploads with outcomes in turn, the last one again and again, and counts them. */
async function upload(outcomes: readonly (number | Error)[]) {
  let count = 0;
  const next = async () => {
    const outcome = outcomes[Math.min(count++, outcomes.length - 1)]!;
    if (outcome instanceof Error) throw outcome;
    return { status: outcome, text: '' };
  };
  const ended = await retryUpload(next, signal).then(
    ({ status }) => status,
    (thrown: unknown) => thrown,
  );
  return { ended, count };
}

describe('an upload', () => {
  const lost = new Error('socket hang up');
  const blocked = new ConversionError('BLOCKED_ADDRESS', 'Not allowed.');

  it.each<[string, readonly (number | Error)[], number | Error, number]>([
    ['is not repeated if it was stored', [204], 204, 1],
    ['is not repeated if it was refused', [403], 403, 1],
    ['is not repeated if its URL is not allowed', [blocked], blocked, 1],
    ['is repeated after a lost connection and an error of the server', [lost, 503, 204], 204, 3],
    ['fails with the third error of the server', [500, 500, 503, 204], 503, 3],
    ['fails with the third lost connection', [500, lost, lost, 204], lost, 3],
  ])('%s', async (_, outcomes, ended, count) => {
    expect(await upload(outcomes)).toEqual({ ended, count });
  });

  it('ends with its signal', async () => {
    const reason = new Error('The time is up.');

    await expect(retryUpload(() => Promise.reject(lost), AbortSignal.abort(reason))).rejects.toBe(reason);
  });
});
