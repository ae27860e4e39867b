/** How long an idle worker stays warm after its last request, in milliseconds. */
const REST_TIME = 60_000;

/** Maximum number of idle workers, because each takes file descriptors and is monitored. */
export const MAX_WARM = 128;

interface Worker {
  kill(): void;
}

interface WarmWorker {
  readonly cost: number;
  readonly isSpare: boolean;
  readonly resting: NodeJS.Timeout | undefined;
}

interface Pool {
  /** Maximum number of requests at a time. */
  readonly size: number;
  warm(): Promise<void>;
}

/**
 * Keeps idle workers of any number of pools, as long as their memory fits a budget. Spares count, but only workers that
 * have served an account are killed, those first that were used longest ago. The last one stays even if spares take the
 * whole budget, so that the next request of its account is fast.
 */
export class WarmWorkers {
  /** The pools whose workers count. */
  readonly pools = new Set<Pool>();
  readonly #budget: number;
  readonly #rests: boolean;
  /** In the order of their last use. */
  readonly #idle = new Map<Worker, WarmWorker>();
  #spent = 0;
  #last: Worker | undefined;

  /** `budget` is in MiB. With `rests`, a worker is killed when it has been idle for a minute. */
  constructor(budget: number, { rests = false }: { readonly rests?: boolean } = {}) {
    this.#budget = budget;
    this.#rests = rests;
  }

  /** Maximum number of workers of all pools. */
  get max(): number {
    return [...this.pools].reduce((sum, { size }) => sum + size, MAX_WARM);
  }

  /** Counts a spare that takes `cost` MiB. */
  keepSpare(worker: Worker, cost: number): void {
    this.#keep(worker, { cost, isSpare: true, resting: undefined });
  }

  /** Keeps a worker that has just become idle and takes `cost` MiB. */
  keep(worker: Worker, cost: number): void {
    const resting = this.#rests ? setTimeout(() => this.#kill(worker), REST_TIME).unref() : undefined;
    this.#last = worker;
    this.#keep(worker, { cost, isSpare: false, resting });
  }

  #keep(worker: Worker, kept: WarmWorker): void {
    this.#idle.set(worker, kept);
    this.#spent += kept.cost;
    for (const [oldest, { cost, isSpare }] of this.#idle) {
      if (this.#spent <= this.#budget && this.#idle.size <= MAX_WARM) return;
      const isLast = oldest === this.#last && cost <= this.#budget;
      if (!isSpare && !isLast) this.#kill(oldest);
    }
  }

  /** Forgets a worker that serves a request again or has exited. */
  release(worker: Worker): void {
    const kept = this.#idle.get(worker);
    if (!kept) return;
    clearTimeout(kept.resting);
    this.#idle.delete(worker);
    this.#spent -= kept.cost;
  }

  #kill(worker: Worker): void {
    this.release(worker);
    worker.kill();
  }
}

/** The workers of an engine. */
export interface StartedPool {
  /** Starts a worker unless an idle one can take the next request. */
  warm(): Promise<void>;
}

/** Observes the workers of a tool, for its health and its metrics. */
export interface WorkerObserver {
  /** A worker is being started ahead of need (`spare`) or because a request needs it (`demand`). */
  starting?(reason: 'spare' | 'demand'): void;
  /** A worker can take requests. */
  ready?(pool: StartedPool): void;
  /** A worker exited before it could take requests, although it was not killed: the engine itself is broken. */
  failed?(reason: string, pool: StartedPool): void;
  /** A worker missed its start deadline while others are running. */
  late?(reason: string): void;
  /** A worker can take requests, but its engine started without its own sandbox. */
  unsandboxed?(reason: string): void;
  /** A worker has exited, for whatever reason. */
  ended?(): void;
  /** The files of a worker that has exited could not be deleted. */
  left?(reason: string): void;
  /** A request starts waiting for its turn (1) or stops waiting (-1). */
  waiting?(change: 1 | -1): void;
}
