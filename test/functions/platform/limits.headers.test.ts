import { describe, expect, it } from 'vitest';
import { limitHeaders, retryAfter } from '../../../functions/platform/limits.ts';

const NOW = Date.UTC(2026, 10, 21, 12, 0, 29);
const LIMITS = { perMinute: 60, perMonth: 10_000, concurrent: 3 };

describe('the headers of the limits', () => {
  it('contain the policy, the remaining calls and the reset time of each window', () => {
    expect(limitHeaders(LIMITS, { short: 1, month: 50 }, 'none', NOW)).toEqual({
      'RateLimit-Policy': '"minute";q=60;w=60, "month";q=10000;w=2592000',
      RateLimit: '"minute";r=59;t=31, "month";r=9950;t=820771',
    });
  });

  it('contain the length of the current month', () => {
    const headers = limitHeaders({ perMonth: 5 }, { short: 1, month: 1 }, 'none', Date.UTC(2027, 1, 3));

    expect(headers['RateLimit-Policy']).toBe(`"month";q=5;w=${28 * 86_400}`);
  });

  it('include refunds', () => {
    const used = { short: 60, month: 50 };

    expect(limitHeaders(LIMITS, used, 'month', NOW).RateLimit).toBe(
      '"minute";r=0;t=31, "month";r=9951;t=820771',
    );
    expect(limitHeaders(LIMITS, used, 'all', NOW).RateLimit).toBe(
      '"minute";r=1;t=31, "month";r=9951;t=820771',
    );
  });

  it('are absent without a limit of a window', () => {
    expect(limitHeaders({ concurrent: 2 }, { short: 1, month: 1 })).toEqual({});
  });

  it('are never negative, even after a limit was lowered', () => {
    expect(limitHeaders({ perMinute: 1 }, { short: 9, month: 9 }, 'none', NOW).RateLimit).toBe(
      '"minute";r=0;t=31',
    );
  });

  it('say when to retry', () => {
    expect([
      retryAfter('perShortWindow', NOW),
      retryAfter('perMonth', NOW),
      retryAfter('concurrent', NOW),
    ]).toEqual([31, 820_771, 1]);
  });
});
