import type { WorkerObserver } from './observer.ts';

export type EngineStatus = 'up' | 'starting' | `degraded: ${string}` | 'down';

/** Tracks whether a tool's engine works, based on the starts of its workers. */
export class EngineState implements WorkerObserver {
  #isReady = false;
  #isDown = false;
  #degraded: string | undefined;
  #isUnsandboxed = false;
  readonly #onUnsandboxed: (reason: string) => void;

  /** `onUnsandboxed` is called the first time that an engine starts without its own sandbox. */
  constructor(onUnsandboxed: (reason: string) => void = () => {}) {
    this.#onUnsandboxed = onUnsandboxed;
  }

  /** Public, so it contains no text of an error. */
  get status(): EngineStatus {
    if (this.#isDown) return 'down';
    if (this.#degraded !== undefined) return `degraded: ${this.#degraded}`;
    return this.#isReady ? 'up' : 'starting';
  }

  ready(): void {
    this.#isReady = true;
    this.#isDown = false;
  }

  failed(): void {
    this.#isDown = true;
  }

  degraded(): void {
    this.#degraded = 'the warm engine failed to start';
  }

  /** The usual workers start again. */
  recovered(): void {
    this.#degraded = undefined;
    this.ready();
  }

  unsandboxed(reason: string): void {
    if (!this.#isUnsandboxed) this.#onUnsandboxed(reason);
    this.#isUnsandboxed = true;
  }

  starting(): void {}

  late(): void {}

  ended(): void {}

  left(): void {}

  waiting(): void {}
}

/** Notifies several observers, each of what it observes. */
export function observeAll(...observers: ReadonlyArray<Partial<WorkerObserver>>): WorkerObserver {
  const tell =
    <Name extends keyof WorkerObserver>(name: Name) =>
    (...args: Parameters<WorkerObserver[Name]>) => {
      for (const observer of observers) {
        (observer[name] as ((...given: Parameters<WorkerObserver[Name]>) => void) | undefined)?.call(
          observer,
          ...args,
        );
      }
    };
  return {
    starting: tell('starting'),
    ready: tell('ready'),
    failed: tell('failed'),
    late: tell('late'),
    degraded: tell('degraded'),
    unsandboxed: tell('unsandboxed'),
    recovered: tell('recovered'),
    ended: tell('ended'),
    left: tell('left'),
    waiting: tell('waiting'),
  };
}
