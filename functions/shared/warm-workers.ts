/** How long an idle worker stays warm after its last request, in milliseconds. */
const REST_TIME = 60_000;

/** Maximum number of idle workers, because each takes file descriptors and is monitored. */
export const MAX_WARM = 128;

interface Worker {
  kill(): void;
}

interface WarmWorker {
  readonly cost: number;
  readonly resting: NodeJS.Timeout | undefined;
}

/**
 * Keeps idle workers of any number of pools that have served an account, as long as their memory fits a budget. The ones that were
 * used longest ago are killed first.
 */
export class WarmWorkers {
  readonly #budget: number;
  readonly #rests: boolean;
  /** In the order of their last use. */
  readonly #idle = new Map<Worker, WarmWorker>();
  #spent = 0;

  /** `budget` is in MiB. With `rests`, a worker is killed when it has been idle for a minute. */
  constructor(budget: number, { rests = false }: { readonly rests?: boolean } = {}) {
    this.#budget = budget;
    this.#rests = rests;
  }

  /** Keeps a worker that has just become idle and takes `cost` MiB. */
  keep(worker: Worker, cost: number): void {
    const resting = this.#rests ? setTimeout(() => this.#kill(worker), REST_TIME).unref() : undefined;
    this.#idle.set(worker, { cost, resting });
    this.#spent += cost;
    for (const oldest of this.#idle.keys()) {
      if (this.#spent <= this.#budget && this.#idle.size <= MAX_WARM) return;
      this.#kill(oldest);
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
