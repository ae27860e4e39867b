import type { RateLimits } from '../../shared/rate-limits.ts';
import type { Exceeded, Refund, Used } from './limits.ts';
import { windowTimes } from './windows.ts';

/**
 * Returns the headers of draft-ietf-httpapi-ratelimit-headers for the windows that have a limit. `refund` is the part
 * of this call that was refunded after `used` was read.
 */
export function limitHeaders(
  { perMinute, perMonth }: RateLimits,
  used: Used,
  refund: Refund = 'none',
  now = Date.now(),
): Record<string, string> {
  const times = windowTimes(now);
  const windows = [
    { name: 'minute', limit: perMinute, used: used.short - Number(refund === 'all'), ...times.short },
    { name: 'month', limit: perMonth, used: used.month - Number(refund !== 'none'), ...times.month },
  ];
  const limited = windows.filter(({ limit }) => limit !== undefined);
  if (limited.length === 0) return {};
  const left = (limit = 0, count: number) => Math.max(0, limit - count);
  return {
    'RateLimit-Policy': limited
      .map(({ name, limit, length }) => `"${name}";q=${limit};w=${length}`)
      .join(', '),
    RateLimit: limited
      .map(({ name, limit, used, remaining }) => `"${name}";r=${left(limit, used)};t=${remaining}`)
      .join(', '),
  };
}

/**
 * Returns the seconds after which a call that exceeded a limit can succeed. A call in progress may end at any time.
 */
export function retryAfter(exceeded: Exceeded, now = Date.now()): number {
  const { short, month } = windowTimes(now);
  switch (exceeded) {
    case 'perShortWindow':
      return short.remaining;
    case 'perMonth':
      return month.remaining;
    case 'concurrent':
      return 1;
    default:
      return exceeded satisfies never;
  }
}
