/** Runs `work`, or joins the run under the same identity that is under way. */
export type Coalesce = <Result>(
  identity: string,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>,
) => Promise<Result>;

interface Run {
  readonly result: Promise<unknown>;
  readonly stop: AbortController;
  callers: number;
}

/** Lets identical requests in flight coalesce one conversion; it is aborted when the last of its callers has gone. */
export function createCoalescer(): Coalesce {
  const underWay = new Map<string, Run>();

  const start = (identity: string, work: (signal: AbortSignal) => Promise<unknown>): Run => {
    const stop = new AbortController();
    const result = work(stop.signal).finally(() => {
      if (underWay.get(identity) === run) underWay.delete(identity);
    });
    const run: Run = { result, stop, callers: 0 };
    underWay.set(identity, run);
    return run;
  };

  return async <Result>(
    identity: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> => {
    signal.throwIfAborted();
    const run = underWay.get(identity) ?? start(identity, work);
    run.callers += 1;
    const gone = Promise.withResolvers<never>();
    const leave = () => {
      run.callers -= 1;
      // Nobody may join a run that is being stopped.
      if (run.callers === 0) {
        underWay.delete(identity);
        run.stop.abort(signal.reason);
      }
      gone.reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    try {
      return (await Promise.race([run.result, gone.promise])) as Result;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  };
}
