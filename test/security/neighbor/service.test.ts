import { expect, it } from 'vitest';
import { judgeBeats } from './service.ts';

/** Judges several fast requests, and one that took as long as given. */
const judged = (milliseconds: number, control: number, stolen = 0, code = 'SOURCE_STATUS') => {
  const fast = { milliseconds: 10, control: 5, stolen: 0, code: 'SOURCE_STATUS' };
  return judgeBeats([fast, fast, { milliseconds, control, stolen, code }, fast, fast]);
};

it('fails a service that another account waits for', () => {
  expect(judged(500, 0).failures).toEqual([
    'the other account waited 500 ms while an idle server answered (at most 500 ms)',
  ]);
  expect(judged(10, 0, 0, 'OVERLOADED').failures).toEqual([
    '1 requests of the other account failed: OVERLOADED',
  ]);
  expect(judgeBeats([]).failures).toEqual(['only 0 requests of the other account']);
});

it('passes a service that responds in time', () => {
  const { failures, unproven } = judged(250, 0);

  expect([failures, unproven]).toEqual([[], undefined]);
});

it('proves nothing if an idle server is as slow at the same time, or the host took the core', () => {
  for (const { failures, unproven } of [judged(500, 400), judged(500, 0, 400)])
    expect([failures, unproven]).toEqual([[], expect.stringContaining('took 500 ms on a busy machine')]);
});
