// Milliseconds.
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Returns the UTC day of a point in time in epoch milliseconds: `2026-11-25`. */
export function dayOf(time = Date.now()): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Returns the UTC month of a point in time in epoch milliseconds: `2026-11`. */
export function monthOf(time = Date.now()): string {
  return new Date(time).toISOString().slice(0, 7);
}

/** Returns the dates 01–31 of a month, including ones that do not exist. */
export function daysOf(month: string): string[] {
  return Array.from({ length: 31 }, (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`);
}
