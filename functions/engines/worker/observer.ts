/** Observes the workers of a tool, for its health and its metrics. */
export interface WorkerObserver {
  /** A worker is being started ahead of need (`spare`) or because a request needs it (`demand`). */
  starting?(reason: 'spare' | 'demand'): void;
  /** A worker can take requests. */
  ready?(): void;
  /** A worker exited before it could take requests, although it was not killed: the engine itself is broken. */
  failed?(reason: string): void;
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

export type EngineStatus = 'up' | 'starting' | 'down';

/** Tracks whether a tool's engine works, based on the starts of its workers. */
export class EngineState implements WorkerObserver {
  #isReady = false;
  #isDown = false;
  #isUnsandboxed = false;
  readonly #onUnsandboxed: (reason: string) => void;

  /** `onUnsandboxed` is called the first time that an engine starts without its own sandbox. */
  constructor(onUnsandboxed: (reason: string) => void = () => {}) {
    this.#onUnsandboxed = onUnsandboxed;
  }

  get status(): EngineStatus {
    if (this.#isDown) return 'down';
    return this.#isReady ? 'up' : 'starting';
  }

  ready(): void {
    this.#isReady = true;
    this.#isDown = false;
  }

  failed(): void {
    this.#isDown = true;
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
    const tell = (...given: readonly unknown[]) => {
      for (const observer of observers)
        (observer[event] as ((...given: readonly unknown[]) => void) | undefined)?.apply(observer, [
          ...given,
        ]);
    };
    return [event, tell] as const;
  });
  return Object.fromEntries(listeners);
}
