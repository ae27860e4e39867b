import { Worker } from 'node:worker_threads';
import { nodeEnvironment } from '../node-environment.ts';

/** A function that runs in a thread. */
interface Threaded<Request, Result> {
  (request: Request): Promise<Result>;
  /** Starts the thread ahead of the first call. */
  start(): void;
}

interface Substitutes<Request, Result> {
  /** Does the work in the calling thread if no other thread can be started. */
  readonly fallback: (request: Request) => Result | Promise<Result>;
  /** Result of the request during which the thread exits. */
  readonly failed: Result;
  /** Result of the requests that are queued behind it. */
  readonly skipped: Result;
}

/** Makes a function run in a thread. After an exit, a new thread is started. */
export function inThread<Request, Result>(
  script: string,
  { fallback, failed, skipped }: Substitutes<Request, Result>,
): Threaded<Request, Result> {
  const waiting = new Map<
    number,
    { request: Request; resolve: (result: Result | Promise<Result>) => void }
  >();
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
      // Without the cache, a thread takes most of its time to compile.
      env: nodeEnvironment(),
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 },
    });
    let hasResponded = false;
    started.on('message', ({ id, result }: { id: number; result: Result }) => {
      hasResponded = true;
      waiting.get(id)?.resolve(result);
      waiting.delete(id);
      if (waiting.size === 0) started.unref();
    });
    // After adding the listener, which would keep this process running.
    started.unref();
    // An exit event follows.
    started.on('error', () => {});
    started.on('exit', () => {
      thread = undefined;
      const left = [...waiting.values()];
      waiting.clear();
      for (const [place, { request, resolve }] of left.entries()) {
        if (!hasResponded) resolve(fallback(request));
        else resolve(place === 0 ? failed : skipped);
      }
    });
    return started;
  }

  async function call(request: Request): Promise<Result> {
    const started = start();
    if (!started) return fallback(request);
    last += 1;
    const id = last;
    return new Promise((resolve) => {
      waiting.set(id, { request, resolve });
      started.ref();
      started.postMessage({ id, request });
    });
  }

  return Object.assign(call, { start: () => void start() });
}
