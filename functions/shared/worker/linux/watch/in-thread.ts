import { Worker } from 'node:worker_threads';

/** A function that runs in a thread. */
export interface Threaded<Request, Result> {
  (request: Request): Promise<Result>;
  /** Starts the thread ahead of the first call. */
  start(): void;
}

/**
 * Makes a function that is called in a thread. `instead` is called in this thread if the other one cannot be started or
 * ends. The next call starts another one.
 */
export function inThread<Request, Result>(
  script: string,
  instead: (request: Request) => Result,
): Threaded<Request, Result> {
  const waiting = new Map<number, { request: Request; resolve: (result: Result) => void }>();
  let thread: Worker | undefined;
  let last = 0;

  function start(): Worker | undefined {
    try {
      thread ??= startThread();
    } catch {
      // The machine has no free thread or file descriptor.
    }
    return thread;
  }

  function startThread(): Worker {
    const started = new Worker(script, {
      env: {},
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 },
    });
    started.unref();
    started.on('message', ({ id, result }: { id: number; result: Result }) => {
      waiting.get(id)?.resolve(result);
      waiting.delete(id);
    });
    // It is followed by the exit.
    started.on('error', () => {});
    started.on('exit', () => {
      thread = undefined;
      const left = [...waiting.values()];
      waiting.clear();
      for (const { request, resolve } of left) resolve(instead(request));
    });
    return started;
  }

  async function call(request: Request): Promise<Result> {
    const started = start();
    if (!started) return instead(request);
    last += 1;
    const id = last;
    return new Promise((resolve) => {
      waiting.set(id, { request, resolve });
      started.postMessage({ id, request });
    });
  }

  return Object.assign(call, { start: () => void start() });
}
