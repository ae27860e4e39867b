import { MINUTE, monthOf } from '../../shared/dates.ts';
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
