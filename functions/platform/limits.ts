import type { RateLimits } from '../shared/settings/service.ts';
import { MINUTE, monthOf } from '../shared/time.ts';

/** An admitted call, as `release` needs it. */
interface Ticket {
  readonly account: string;
  readonly windows: Windows;
  /** Set if the call counts towards `concurrent` until it is released. */
  readonly lease?: string;
}

/**
 * Kind of a refund: `month` for a call that converted nothing, `all` for a call that failed through no fault of the
 * caller.
 */
export type Refund = 'none' | 'month' | 'all';

/** Number of calls of an account in each window, including this one. */
export interface Used {
  readonly short: number;
  readonly month: number;
}

export type Admission =
  | { readonly admitted: true; readonly used: Used; readonly ticket: Ticket }
  | { readonly admitted: false; readonly used: Used; readonly exceeded: Exceeded };

/** Maximum numbers of calls of an account. An absent one means no limit. */
export interface CallLimits {
  readonly perShortWindow?: number | undefined;
  readonly perMonth?: number | undefined;
  /** Maximum concurrent calls. */
  readonly concurrent?: number | undefined;
}

/** The limit that a call exceeded. */
export type Exceeded = keyof CallLimits;

interface AdmissionRequest {
  readonly account: string;
  readonly limits: CallLimits;
  /** Epoch milliseconds after which the call no longer counts as in progress, even if it was never released. */
  readonly expires: number;
  readonly now?: number;
  /** Length of the short window in milliseconds, always the same for an account. Defaults to a minute. */
  readonly shortWindow?: number;
}

/** Counts calls. Exact under concurrency, even between processes. */
export interface Limiter {
  /** Counts a call in every window and as in progress. Counts it nowhere if it exceeds a limit. */
  admit(call: AdmissionRequest): Promise<Admission>;
  /** Ends an admitted call. */
  release(ticket: Ticket, refund: Refund): Promise<void>;
  /** Returns the usage of an account, without counting a call. */
  used(account: string, now?: number): Promise<Used>;
}

/** The fixed windows that a call is counted in. */
export interface Windows {
  /** Number of short windows since the epoch. */
  readonly short: string;
  /** Calendar month, UTC: `2026-11`. */
  readonly month: string;
}

/** Returns the windows of a point in time. `length` is the length of the short window in milliseconds. */
export function windowsAt(now: number, length = MINUTE): Windows {
  return { short: String(Math.floor(now / length)), month: monthOf(now) };
}

/** Returns the end of each window of a point in time, in epoch milliseconds. */
export function windowEnds(now: number, length = MINUTE): { readonly [Name in keyof Windows]: number } {
  const date = new Date(now);
  return {
    short: length * (Math.floor(now / length) + 1),
    month: Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1),
  };
}

/** Whether neither window has ended. */
export function isCurrent({ short, month }: Windows, now = Date.now()): boolean {
  const current = windowsAt(now);
  return short === current.short && month === current.month;
}

/** Returns the length and the remaining time of the windows, in seconds. */
export function windowTimes(now: number) {
  const date = new Date(now);
  const start = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const end = windowEnds(now).month;
  return {
    short: { length: 60, remaining: Math.ceil((MINUTE - (now % MINUTE)) / 1000) },
    month: { length: (end - start) / 1000, remaining: Math.ceil((end - now) / 1000) },
  };
}

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
