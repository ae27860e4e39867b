import type { StartedPool, WorkerObserver } from '../../shared/warm-workers.ts';

export type EngineStatus = 'up' | 'starting' | 'down';

/** Tracks whether a tool's engine works, based on the starts of its workers. */
export class EngineState implements WorkerObserver {
  #isReady = false;
  /** The pools whose last worker could not start. */
  readonly #broken = new Set<StartedPool>();
  #isUnsandboxed = false;
  readonly #onUnsandboxed: (reason: string) => void;

  /** `onUnsandboxed` is called the first time that an engine starts without its own sandbox. */
  constructor(onUnsandboxed: (reason: string) => void = () => {}) {
    this.#onUnsandboxed = onUnsandboxed;
  }

  get status(): EngineStatus {
    if (this.#broken.size > 0) return 'down';
    return this.#isReady ? 'up' : 'starting';
  }

  /** Starts a worker in each pool whose last one could not start. */
  async restart(): Promise<void> {
    const restarted = [...this.#broken].map(async (pool) => {
      await pool.warm();
      // The pool may need no other worker.
      this.#broken.delete(pool);
    });
    await Promise.allSettled(restarted);
  }

  ready(pool: StartedPool): void {
    this.#isReady = true;
    this.#broken.delete(pool);
  }

  failed(_reason: string, pool: StartedPool): void {
    this.#broken.add(pool);
  }

  unsandboxed(reason: string): void {
    if (!this.#isUnsandboxed) this.#onUnsandboxed(reason);
    this.#isUnsandboxed = true;
  }
}

const EVENTS = ['starting', 'ready', 'failed', 'late', 'unsandboxed', 'ended', 'left', 'waiting'] as const;

/** Returns an observer that notifies several others. */
export function observeAll(...observers: readonly WorkerObserver[]): WorkerObserver {
  const listeners = EVENTS.map((event) => {
    const tell = (...args: readonly unknown[]) => {
      for (const observer of observers)
        (observer[event] as ((...args: readonly unknown[]) => void) | undefined)?.apply(observer, [...args]);
    };
    return [event, tell] as const;
  });
  return Object.fromEntries(listeners);
}
