import { ConversionError, engineCrashError, stoppingError } from '../../shared/errors.ts';
import { createFairQueue, type FairQueue } from '../../shared/fair-queue.ts';
import { abortError, untilAborted, withAnySignal, within } from '../../shared/time.ts';
import { type StartedPool, WarmWorkers, type WorkerObserver } from '../../shared/warm-workers.ts';
import type { Progress, Work } from '../protocol.ts';
import { type ExcessLimits, watchExcess } from './excess.ts';
import { watchGroup } from './linux/examine.ts';
import { type WorkerCommand, WorkerCrash, type WorkerPlace, WorkerProcess } from './process.ts';
import { startInTurn } from './start-in-turn.ts';

export type { WorkerCommand } from './process.ts';

/** Timeouts in milliseconds for a request that makes no progress. Waiting for a free worker does not count. */
export interface StallTimeouts {
  /** Maximum time without any answer. */
  readonly stall: number;
  /** Maximum time without another finished part, such as a page. */
  readonly page: number;
}

export interface WorkerPoolOptions extends WorkerPlace {
  /** Maximum number of concurrent requests; each worker runs one at a time. */
  readonly size: number;
  /**
   * Whether all requests belong to one account. If so, no spare is kept beside a worker that can take the next
   * request.
   */
  readonly singleAccount?: boolean | undefined;
  /** Number of requests after which a worker is replaced. */
  readonly requests: number;
  /** MiB that an idle worker and its child processes take, without what they share with others. Defaults to `memory`. */
  readonly cost?: number;
  /** Keeps the idle workers of this pool and others. By default, this pool keeps up to `size` of its own, and a spare. */
  readonly warm?: WarmWorkers | undefined;
  /** Resident MiB above which a worker is replaced after its request. */
  readonly memory: number;
  /**
   * Resident MiB of a worker and its child processes above which a request fails. Defaults to four times `memory`.
   */
  readonly maxMemory?: number;
  /** Maximum bytes on disk of a worker's files. A request that exceeds them fails. Defaults to 4 GiB. */
  readonly maxDisk?: number;
  /** Threads of a worker and its child processes above which a request fails. Defaults to 1000. */
  readonly maxThreads?: number;
  /** Whether a worker can end a cancelled request early and then take the next one. If not, it is killed. */
  readonly cancellable?: boolean;
  /** Only for engines that send heartbeats. */
  readonly times?: StallTimeouts | undefined;
  readonly observer?: WorkerObserver | undefined;
}

export interface WorkerRequest extends Progress {
  readonly account: string;
  /** Aborts the request. */
  readonly signal: AbortSignal;
  /** The directory of the conversion, which the names of files are relative to. */
  readonly directory: string;
  /** Called with the milliseconds that the request waited for its turn. */
  readonly onQueued?: (milliseconds: number) => void;
}

/** Maximum number of workers that may fail to start per request: a kill may have hit the spare as well. */
const MAX_STARTS = 3;
const MAX_DISK = 4 * 2 ** 30;
/** A browser has up to 300, other engines 30. */
const MAX_THREADS = 1000;
/** Timeout for a worker to end a cancelled request, in milliseconds. */
const CANCEL_TIME = 2000;
/** How long after an account's last request a part of the pool is kept free for it, in milliseconds. */
const SHARED_TIME = 60_000;

/**
 * Keeps warm workers, with one request at a time each, never two accounts in one process, and one pre-started spare.
 * Written by hand because existing pools neither separate accounts nor kill process groups.
 */
export class WorkerPool {
  readonly #start: (reason: 'spare' | 'demand') => WorkerProcess;
  readonly #options: WorkerPoolOptions;
  readonly #limits: ExcessLimits;
  readonly #warm: WarmWorkers;
  readonly #cost: number;
  readonly #idle: WorkerProcess[] = [];
  /** Stops watching idle workers that have had a request. */
  readonly #unwatch = new Map<WorkerProcess, () => void>();
  /** Workers that are ending a cancelled request, with promises that resolve when they have. */
  readonly #ending = new Map<WorkerProcess, Promise<void>>();
  /** Every worker whose process or home directory still exists. */
  readonly #existing = new Set<WorkerProcess>();
  readonly #queue: FairQueue;
  /** Time of each account's last request, milliseconds on the monotonic clock. */
  readonly #requestedAt = new Map<string, number>();
  #closed = false;

  /** `command` is called for every worker with the private directory that is its HOME, TMPDIR and working directory. */
  constructor(command: (home: string) => WorkerCommand, options: WorkerPoolOptions) {
    this.#options = options;
    const { memory, maxMemory = 4 * memory, maxDisk = MAX_DISK, maxThreads = MAX_THREADS } = options;
    this.#limits = { memory: maxMemory, disk: maxDisk, threads: maxThreads };
    this.#cost = options.cost ?? memory;
    this.#warm = options.warm ?? new WarmWorkers((options.size + 1) * this.#cost);
    this.#warm.pools.add(this);
    this.#start = (reason) => {
      // The first call starts a thread, before an engine runs that could disturb it.
      watchGroup.start();
      const started = new WorkerProcess(command, options);
      const isWorking = () => [...this.#existing].some(({ isReady }) => isReady);
      const worker = observe(started, { reason, isWorking, pool: this }, options.observer);
      this.#existing.add(worker);
      worker.ended.then(() => {
        this.#existing.delete(worker);
        this.#warm.release(worker);
        this.#stopWatching(worker);
      });
      return worker;
    };
    this.#queue = createFairQueue({ total: options.size, perAccount: (account) => this.#shareOf(account) });
  }

  /** Maximum number of concurrent requests. */
  get size(): number {
    return this.#options.size;
  }

  /** Pre-starts a worker and waits until it is ready. */
  async warm(): Promise<void> {
    if (this.#needsSpare()) this.#startSpare();
    await this.#idle.find((worker) => worker.usable && worker.account === undefined)?.ready;
  }

  /**
   * Runs one request. After a crash it is retried once in another worker, so its heartbeats and outputs may repeat. A
   * worker that was unusable before the request does not count as a crash, and a timeout is never retried.
   * @throws ConversionError from the worker, `TIMED_OUT`, `CONVERSION_FAILED` after a second crash, or `INTERNAL` if
   * the engine does not start or more workers were unusable than the pool keeps.
   */
  run<Result>(request: Work, options: WorkerRequest): Promise<Result> {
    const { times } = this.#options;
    if (!times) return this.#runInTurn<Result>(request, options);
    return withStallTimeout(options, times, (bounded) => this.#runInTurn<Result>(request, bounded));
  }

  async #runInTurn<Result>(request: Work, options: WorkerRequest): Promise<Result> {
    const { account, signal, onQueued } = options;
    const { observer } = this.#options;
    const requestedAt = performance.now();
    this.#requestedAt.set(account, requestedAt);
    let isWaiting = true;
    const stopWaiting = () => {
      if (isWaiting) observer?.waiting?.(-1);
      isWaiting = false;
    };
    observer?.waiting?.(1);
    const run = async () => {
      stopWaiting();
      onQueued?.(performance.now() - requestedAt);
      return (await this.#runWithRetry(request, options)) as Result;
    };
    try {
      return await this.#queue.run(account, run, signal);
    } catch (thrown) {
      throw thrown === signal.reason ? abortError(signal) : thrown;
    } finally {
      stopWaiting();
    }
  }

  /** Kills all workers and their requests, and starts no more. Afterwards, nothing of any worker remains. */
  async close(): Promise<void> {
    this.#closed = true;
    const workers = [...this.#existing];
    this.#idle.length = 0;
    for (const worker of workers) worker.kill();
    await Promise.all(workers.map((worker) => worker.ended));
  }

  async #runWithRetry(request: Work, options: WorkerRequest): Promise<unknown> {
    for (let crashes = 0, unusable = 0, unstarted = 0; ; ) {
      try {
        return await this.#runOnce(request, options);
      } catch (thrown) {
        if (!(thrown instanceof WorkerCrash)) throw thrown;
        if (thrown.unusable) unusable += 1;
        else if (thrown.atStart) unstarted += 1;
        else crashes += 1;
        // Every idle worker and the spare may have become unusable.
        const isLast = crashes === 2 || unstarted === MAX_STARTS || unusable > this.#options.size + 1;
        if (!isLast) continue;
        // The document is not to blame.
        if (thrown.atStart || thrown.unusable) throw ConversionError.from(thrown);
        throw engineCrashError(thrown);
      }
    }
  }

  async #runOnce(request: Work, options: WorkerRequest): Promise<unknown> {
    const { account, signal, directory } = options;
    if (this.#closed) {
      throw stoppingError();
    }
    const worker =
      this.#takeOwn(account) ??
      (await untilAborted(signal, this.#takeEnding(account, signal))) ??
      this.#takeIdle(account) ??
      (await untilAborted(signal, this.#takeInTurn(account, signal)));
    const excess = watchExcess(worker, this.#limits);
    const { cancellable } = this.#options;
    return withAnySignal([signal, excess.signal], async (stop) => {
      const answered = worker.request(request, directory, options, cancellable ? stop : undefined);
      const giveBack = () => {
        excess.stop();
        this.#ending.delete(worker);
        this.#giveBack(worker);
      };
      try {
        return await untilAborted(stop, answered);
      } finally {
        if (cancellable && stop.aborted && !excess.signal.aborted) {
          this.#ending.set(worker, untilEnded(worker, answered, excess.signal).then(giveBack));
        } else {
          if (stop.aborted) worker.kill();
          giveBack();
        }
      }
    });
  }

  /**
   * Returns how many requests of an account may run at the same time: all if no other account is active, otherwise
   * half, so that others do not have to wait for its long requests.
   */
  #shareOf(account: string): number {
    const { size } = this.#options;
    return this.#hasOthers(account) ? Math.max(1, Math.floor(size / 2)) : size;
  }

  /** Whether another account has made a request recently. */
  #hasOthers(account: string): boolean {
    const since = performance.now() - SHARED_TIME;
    for (const [other, requestedAt] of this.#requestedAt)
      if (requestedAt < since) this.#requestedAt.delete(other);
    return this.#requestedAt.size > Number(this.#requestedAt.has(account));
  }

  #takeIdle(account: string): WorkerProcess | undefined {
    return this.#takeOwn(account) ?? this.#takeFirst(account, (idle) => idle.account === undefined);
  }

  #takeOwn(account: string): WorkerProcess | undefined {
    return this.#takeFirst(account, (idle) => idle.account === account);
  }

  #takeFirst(account: string, accept: (idle: WorkerProcess) => boolean): WorkerProcess | undefined {
    const usable = this.#idle.filter((worker) => worker.usable);
    const worker = usable.find(accept);
    this.#idle.splice(0, this.#idle.length, ...usable.filter((idle) => idle !== worker));
    if (!worker) return undefined;
    worker.account = account;
    this.#warm.release(worker);
    this.#stopWatching(worker);
    return worker;
  }

  /**
   * Waits for workers of the account that are ending a cancelled request, and takes the first that is usable again.
   */
  async #takeEnding(account: string, signal: AbortSignal): Promise<WorkerProcess | undefined> {
    for (;;) {
      const own = [...this.#ending].filter(([worker]) => worker.account === account);
      if (own.length === 0) return undefined;
      await Promise.race(own.map(([, ended]) => ended));
      signal.throwIfAborted();
      const idle = this.#takeOwn(account);
      if (idle) return idle;
    }
  }

  /** Starts a worker, unless another has become idle before its turn. */
  #takeInTurn(account: string, signal: AbortSignal): Promise<WorkerProcess> {
    return startInTurn(() => {
      if (this.#closed) throw stoppingError();
      signal.throwIfAborted();
      const idle = this.#takeIdle(account);
      if (idle) return idle;
      const worker = this.#start('demand');
      worker.account = account;
      return worker;
    });
  }

  #stopWatching(worker: WorkerProcess): void {
    this.#unwatch.get(worker)?.();
    this.#unwatch.delete(worker);
  }

  #giveBack(worker: WorkerProcess): void {
    const { requests, memory } = this.#options;
    const isExpired = worker.requests >= requests || worker.memory > memory;
    if (isExpired || this.#closed) worker.kill();
    if (worker.usable) {
      const excess = watchExcess(worker, this.#limits, 'idle');
      excess.signal.addEventListener('abort', () => worker.kill());
      this.#unwatch.set(worker, excess.stop);
      this.#idle.push(worker);
      this.#warm.keep(worker, this.#cost);
    }
    if (!this.#needsSpare()) return;
    const start = startInTurn(() => (this.#needsSpare() ? this.#startSpare() : undefined));
    // The next request tries again.
    start.catch(() => {});
  }

  /** Whether the next request of another account would have to wait for a worker to start. */
  #needsSpare(): boolean {
    const usable = this.#idle.filter((worker) => worker.usable);
    const isEnough = this.#options.singleAccount
      ? usable.length > 0
      : usable.some(({ account }) => account === undefined);
    return !this.#closed && !isEnough;
  }

  #startSpare(): WorkerProcess {
    const worker = this.#start('spare');
    this.#idle.push(worker);
    this.#warm.keepSpare(worker, this.#cost);
    return worker;
  }
}

/** Waits until a worker has ended a cancelled request. Kills it if that takes too long or if it exceeds a limit. */
async function untilEnded(
  worker: WorkerProcess,
  answered: Promise<unknown>,
  excess: AbortSignal,
): Promise<void> {
  // A worker that is still starting will not get the request.
  if (!worker.isReady) return;
  const ended = answered.then(
    () => true,
    () => true,
  );
  const hasEnded = await untilAborted(excess, within(CANCEL_TIME, ended)).catch(() => false);
  if (!hasEnded) worker.kill();
}

/** Reports the events of a worker to an observer, and returns the worker. */
export function observe(
  worker: WorkerProcess,
  { reason, isWorking, pool }: { reason: 'spare' | 'demand'; isWorking: () => boolean; pool: StartedPool },
  observer: WorkerObserver = {},
): WorkerProcess {
  observer.starting?.(reason);
  worker.ready.then(
    () => {
      observer.ready?.(pool);
      if (worker.unsandboxed !== undefined) observer.unsandboxed?.(worker.unsandboxed);
    },
    (thrown) => {
      if (!(thrown instanceof WorkerCrash && thrown.atStart)) return;
      // On a busy machine, requests take the CPU time that a spare worker needs to start.
      if (thrown.late && isWorking()) observer.late?.(thrown.message);
      else observer.failed?.(thrown.message, pool);
    },
  );
  worker.ended.then(() => {
    observer.ended?.();
    if (worker.leftover !== undefined) observer.left?.(worker.leftover);
  });
  return worker;
}

/**
 * Runs engine work and ends it when it makes no progress. The engine sends a heartbeat when it starts, when it finishes a page,
 * and when it has done part of one.
 * @throws ConversionError `TIMED_OUT`
 */
export async function withStallTimeout<Reply>(
  request: WorkerRequest,
  times: StallTimeouts,
  run: (bounded: WorkerRequest) => Promise<Reply>,
): Promise<Reply> {
  const stalled = new AbortController();
  const timers = new Map<keyof StallTimeouts, NodeJS.Timeout>();
  const restart = (name: keyof StallTimeouts) => {
    clearTimeout(timers.get(name));
    const seconds = Math.round(times[name] / 1000);
    const error = new ConversionError('TIMED_OUT', `Timed out after ${seconds} s on a page of the source.`);
    timers.set(
      name,
      setTimeout(() => stalled.abort(error), times[name]),
    );
  };
  let finished = -1;
  const watched: WorkerRequest = {
    ...request,
    onHeartbeat: (done) => {
      restart('stall');
      if (done !== finished) restart('page');
      finished = done;
      request.onHeartbeat?.(done);
    },
    onOutput: (file) => {
      restart('stall');
      restart('page');
      request.onOutput?.(file);
    },
  };
  try {
    return await withAnySignal([request.signal, stalled.signal], (signal) => run({ ...watched, signal }));
  } finally {
    for (const timer of timers.values()) clearTimeout(timer);
  }
}
