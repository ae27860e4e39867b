/** The fixed windows that a call is counted in. */
export interface Windows {
  /** Minutes since the epoch. */
  readonly minute: string;
  /** Calendar month, UTC: `2026-11`. */
  readonly month: string;
}

const MINUTE = 60_000;

/** Returns the windows of a point in time. `minute` is the length of the shorter one. */
export function windowsAt(now: number, minute = MINUTE): Windows {
  return { minute: String(Math.floor(now / minute)), month: new Date(now).toISOString().slice(0, 7) };
}

/** Whether none of the windows has ended. */
export function isCurrent({ minute, month }: Windows, now = Date.now()): boolean {
  const current = windowsAt(now);
  return minute === current.minute && month === current.month;
}

/** Returns length and remaining time of the windows, in seconds. */
export function windowTimes(now: number) {
  const date = new Date(now);
  const start = Date.UTC(date.getUTCFullYear(), date.getUTCMonth());
  const end = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
  return {
    minute: { length: 60, remaining: Math.ceil((MINUTE - (now % MINUTE)) / 1000) },
    month: { length: (end - start) / 1000, remaining: Math.ceil((end - now) / 1000) },
  };
}
