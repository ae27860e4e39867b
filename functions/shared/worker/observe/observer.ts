/** Learns what the workers of a tool do, for its health and its metrics. */
export interface WorkerObserver {
  /** A worker is started ahead of need (`spare`) or because a request needs one (`demand`). */
  starting(reason: 'spare' | 'demand'): void;
  /** A worker can take requests. */
  ready(): void;
  /** A worker ended before it could take requests, though nobody killed it: the engine itself is broken. */
  failed(reason: string): void;
  /** The tool still works, in a slower way, because its usual workers do not start. */
  degraded(reason: string): void;
  /** The usual workers start again. */
  recovered(): void;
  /** A worker has ended, for whatever reason. */
  ended(): void;
  /** A request starts to wait for its turn (1), or no longer waits (-1). */
  waiting(change: 1 | -1): void;
}
