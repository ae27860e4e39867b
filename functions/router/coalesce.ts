import { ConversionError } from '../shared/errors.ts';
import { abortError, untilAborted } from '../shared/timeout.ts';

/** Runs `work`, or joins an unfinished run with the same identity. */
export type Coalesce = <Result>(
  identity: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
) => Promise<Result>;

interface Run {
  readonly result: Promise<unknown>;
  readonly abort: AbortController;
  callers: number;
}

/**
 * Lets identical concurrent requests share one conversion, which is aborted when the last of its callers disconnects.
 * Rejects with `OVERLOADED` if `maxCallers` are already waiting for it. They take no place in the queue, but each
 * holds a connection.
 */
export function createCoalescer({ maxCallers = Number.POSITIVE_INFINITY } = {}): Coalesce {
  const running = new Map<string, Run>();

  const start = (identity: string, work: (signal: AbortSignal) => Promise<unknown>): Run => {
    const abort = new AbortController();
    const result = work(abort.signal).finally(() => {
      if (running.get(identity) === run) running.delete(identity);
    });
    const run: Run = { result, abort, callers: 0 };
    running.set(identity, run);
    return run;
  };

  return async <Result>(
    identity: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    if (signal.aborted) throw abortError(signal);
    const run = running.get(identity) ?? start(identity, work);
    if (run.callers >= maxCallers) throw tooManyCallersError(run.callers);
    run.callers += 1;
    const leave = () => {
      run.callers -= 1;
      if (run.callers > 0) return;
      // A run that is being aborted cannot be joined.
      running.delete(identity);
      run.abort.abort(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return (await untilAborted(signal, run.result)) as Result;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  };
}

function tooManyCallersError(callers: number): ConversionError {
  const message = `${callers} identical requests are already in progress. Retry in 5 seconds.`;
  return new ConversionError('OVERLOADED', message, { retryAfter: 5, values: { share: callers } });
}
