import { ConversionError } from '../errors.ts';
import { type WorkerCommand, WorkerCrash, WorkerProcess } from './process.ts';

export type { WorkerCommand } from './process.ts';

export interface WorkerPoolOptions {
  /** Directory for the processes' private homes. */
  readonly temporary: string;
  /** Requests under way at most, one a process. */
  readonly size: number;
  /** Requests after which a process is replaced. */
  readonly requests: number;
  /** Resident MiB above which a process is replaced after its request. */
  readonly memory: number;
  /** Resident MiB of a process and all it started at which a request is ended at once; else four times `memory`. */
  readonly mostMemory?: number;
}

export interface WorkerRequest {
  readonly tenant: string;
  /** Epoch milliseconds. */
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: unknown) => void;
}

/** Milliseconds between two looks at what a running request takes. */
const WEIGHING = 250;

/**
 * Warm engine processes: one request at a time each, never two tenants in one process, and one fresh process kept
 * ahead of need. A pool of our own because the known ones neither tell tenants apart nor kill process groups.
 */
export class WorkerPool {
  readonly #start: () => WorkerProcess;
  readonly #options: WorkerPoolOptions;
  readonly #idle: WorkerProcess[] = [];
  readonly #busy = new Set<WorkerProcess>();
  readonly #waiting: Array<() => void> = [];
  #running = 0;
  #closed = false;

  /** `command` is called for every process, with the private directory that is its HOME, TMPDIR and working directory. */
  constructor(command: (home: string) => WorkerCommand, options: WorkerPoolOptions) {
    this.#options = options;
    this.#start = () => new WorkerProcess(command, options.temporary);
  }

  /** Starts a process ahead of need and waits until it can take requests. */
  async warm(): Promise<void> {
    this.#keepSpare();
    await this.#idle.find((engine) => engine.tenant === undefined)?.ready;
  }

  /**
   * Runs one request: retried once in another process after a crash, never after a time-out; that a process was
   * broken before counts for nothing.
   * Events of a request that crashed may come again.
   * @throws ConversionError what the engine reported; `TIMED_OUT`; `CONVERSION_FAILED` after a second crash, or when more
   * processes than are kept were broken.
   */
  async run<Result>(request: object, options: WorkerRequest): Promise<Result> {
    await this.#turn(options);
    try {
      return (await this.#attempts(request, options)) as Result;
    } finally {
      this.#running -= 1;
      this.#waiting.shift()?.();
    }
  }

  /** Ends every process, requests under way with them, and starts no more. */
  async close(): Promise<void> {
    this.#closed = true;
    const engines = [...this.#idle, ...this.#busy];
    for (const engine of engines) engine.kill();
    await Promise.all(engines.map((engine) => engine.ended));
  }

  async #attempts(request: object, options: WorkerRequest): Promise<unknown> {
    for (let crashes = 0, unusable = 0; ; ) {
      try {
        return await this.#attempt(request, options);
      } catch (thrown) {
        if (!(thrown instanceof WorkerCrash)) throw thrown;
        if (thrown.unusable) unusable += 1;
        else crashes += 1;
        // All that were idle, and the spare.
        if (crashes < 2 && unusable <= this.#options.size + 1) continue;
        const message = 'The engine failed on this source, twice.';
        throw new ConversionError('CONVERSION_FAILED', message, { cause: thrown });
      }
    }
  }

  async #attempt(request: object, { tenant, signal, deadline, onEvent }: WorkerRequest): Promise<unknown> {
    if (this.#closed) throw new ConversionError('OVERLOADED', 'The service is stopping.', { retryAfter: 5 });
    const engine = this.#take(tenant);
    this.#busy.add(engine);
    const ended = Promise.withResolvers<never>();
    const end = (reason: ConversionError) => {
      ended.reject(reason);
      engine.kill();
    };
    const stop = () => end(timedOut(signal));
    const { memory, mostMemory = 4 * memory } = this.#options;
    const weigh = () => {
      if (engine.groupMemory > mostMemory) end(tooHeavy());
    };
    const timer = setTimeout(stop, Math.max(0, deadline - Date.now()));
    const scales = setInterval(weigh, WEIGHING);
    signal.addEventListener('abort', stop, { once: true });
    if (signal.aborted) stop();
    try {
      return await Promise.race([engine.request(request, onEvent ?? (() => {})), ended.promise]);
    } finally {
      clearTimeout(timer);
      clearInterval(scales);
      signal.removeEventListener('abort', stop);
      this.#busy.delete(engine);
      this.#giveBack(engine);
    }
  }

  /** Waits until fewer than `size` requests are under way. */
  async #turn({ signal, deadline }: WorkerRequest): Promise<void> {
    while (this.#running >= this.#options.size) {
      const turn = Promise.withResolvers<void>();
      const stop = () => turn.reject(timedOut(signal));
      const timer = setTimeout(stop, Math.max(0, deadline - Date.now()));
      signal.addEventListener('abort', stop, { once: true });
      this.#waiting.push(turn.resolve);
      try {
        await turn.promise;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener('abort', stop);
        const place = this.#waiting.indexOf(turn.resolve);
        if (place >= 0) this.#waiting.splice(place, 1);
      }
    }
    this.#running += 1;
  }

  #take(tenant: string): WorkerProcess {
    const usable = this.#idle.filter((engine) => engine.usable);
    const engine =
      usable.find((one) => one.tenant === tenant) ??
      usable.find((one) => one.tenant === undefined) ??
      this.#start();
    this.#idle.splice(0, this.#idle.length, ...usable.filter((one) => one !== engine));
    engine.tenant = tenant;
    return engine;
  }

  #giveBack(engine: WorkerProcess): void {
    const { requests, memory } = this.#options;
    const worn = engine.requests >= requests || engine.memory > memory;
    if (worn || this.#closed) engine.kill();
    if (engine.usable) this.#idle.push(engine);
    if (!this.#closed) this.#keepSpare();
  }

  /** Keeps one fresh process ready, and lets the longest idle of the others go when they are more than `size`. */
  #keepSpare(): void {
    const owned = this.#idle.filter((engine) => engine.usable && engine.tenant !== undefined);
    const extra = owned.slice(0, Math.max(0, owned.length - this.#options.size));
    for (const engine of extra) engine.kill();
    const spare = this.#idle.find((engine) => engine.usable && engine.tenant === undefined) ?? this.#start();
    this.#idle.splice(0, this.#idle.length, ...owned.filter((engine) => !extra.includes(engine)), spare);
  }
}

function timedOut(signal: AbortSignal): ConversionError {
  if (signal.reason instanceof ConversionError) return signal.reason;
  return new ConversionError('TIMED_OUT', 'The conversion took longer than it may.');
}

function tooHeavy(): ConversionError {
  return new ConversionError('CONVERSION_FAILED', 'The source needs more memory than a conversion may take.');
}
