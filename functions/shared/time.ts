import { ConversionError } from './errors.ts';

/** Returns the error of a conversion that reached its deadline. */
export function timeoutError(cause?: unknown): ConversionError {
  return new ConversionError('TIMED_OUT', 'The conversion timed out.', { cause });
}

/**
 * Runs work with a signal that aborts after `time` milliseconds, or when `signal` does. An abort ends everything
 * below it with various errors, so the promise rejects with the reason of the abort instead. `makeError` is called
 * only if the time has run out.
 */
export async function withTimeout<Value>(
  time: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
  makeError: () => ConversionError = timeoutError,
): Promise<Value> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(makeError()), Math.max(0, time));
  return withAnySignal([signal, timeout.signal], async (either) => {
    try {
      return await work(either);
    } catch (thrown) {
      throw either.aborted ? abortError(either) : thrown;
    } finally {
      clearTimeout(timer);
    }
  });
}

/**
 * Runs work with a signal that aborts as soon as one of `signals` does. A signal of `AbortSignal.any` would stay in
 * memory, with everything that its listeners use, until the listeners are removed.
 */
export async function withAnySignal<Value>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const either = new AbortController();
  const stops = signals.map((signal) => {
    const abort = () => either.abort(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    return () => signal.removeEventListener('abort', abort);
  });
  try {
    return await work(either.signal);
  } finally {
    for (const stop of stops) stop();
  }
}

/** A timeout for data from another machine. */
interface ArrivalTimer {
  /** Restarts the timeout when data has arrived. */
  restart(): void;
  stop(): void;
}

/**
 * Calls `expire` if nothing has arrived for `time` milliseconds. If this process had no processor for a while, Node
 * runs timers before it reads data that has arrived meanwhile, so the timer first lets Node read once more.
 */
export function startArrivalTimer(time: number, expire: () => void): ArrivalTimer {
  let reading: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    reading = setImmediate(expire);
  }, time);
  return {
    restart: () => {
      clearImmediate(reading);
      timer.refresh();
    },
    stop: () => {
      clearImmediate(reading);
      clearTimeout(timer);
    },
  };
}

/** Waits for work that cannot be aborted, but rejects as soon as the signal aborts. */
export async function untilAborted<Value>(signal: AbortSignal, work: Promise<Value>): Promise<Value> {
  const aborted = Promise.withResolvers<never>();
  const reject = () => aborted.reject(abortError(signal));
  signal.addEventListener('abort', reject, { once: true });
  if (signal.aborted) reject();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', reject);
  }
}

/**
 * Returns the reason of an abort as an error. A reason from elsewhere (a disconnected caller, `AbortSignal.timeout`)
 * counts as a timeout.
 */
export function abortError({ reason }: AbortSignal): ConversionError {
  return reason instanceof ConversionError ? reason : timeoutError(reason);
}

/** Whether the reason of an abort is a deadline, as opposed to a disconnected caller. */
export function isTimeout(reason: unknown): boolean {
  return (
    reason instanceof ConversionError || (reason instanceof DOMException && reason.name === 'TimeoutError')
  );
}

/**
 * Waits `time` milliseconds for work, then throws `error`, or returns `undefined` without one. Counts seconds
 * instead of reading the clock, because a Lambda function can be frozen while it waits.
 */
export async function within<Value>(
  time: number,
  work: Promise<Value>,
  error: ConversionError,
): Promise<Value>;
export async function within<Value>(time: number, work: Promise<Value>): Promise<Value | undefined>;
export async function within<Value>(time: number, work: Promise<Value>, error?: ConversionError) {
  let timer: NodeJS.Timeout | undefined;
  let steps = Math.ceil(time / 1000);
  const end = new Promise<undefined>((resolve, reject) => {
    timer = setInterval(() => {
      steps -= 1;
      if (steps <= 0) error ? reject(error) : resolve(undefined);
    }, time / steps);
  });
  try {
    return await Promise.race([work, end]);
  } finally {
    clearInterval(timer);
  }
}

// Milliseconds.
export const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Returns the UTC day of a point in time in epoch milliseconds: `2026-11-25`. */
export function dayOf(time = Date.now()): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** Returns how many whole days ago a UTC day began, or `NaN` if it is none. */
export function daysSince(day: string, now = Date.now()): number {
  return Math.floor((now - Date.parse(day)) / DAY);
}

/** Returns the UTC month of a point in time in epoch milliseconds: `2026-11`. */
export function monthOf(time = Date.now()): string {
  return new Date(time).toISOString().slice(0, 7);
}

/** Returns the dates 01–31 of a month, including ones that do not exist. */
export function daysOf(month: string): string[] {
  return Array.from({ length: 31 }, (_, index) => `${month}-${String(index + 1).padStart(2, '0')}`);
}
