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
