/** Is notified about the workers of a tool, for its health and its metrics. */
export interface WorkerObserver {
  /** A worker is started ahead of need (`spare`) or because a request needs one (`demand`). */
  starting(reason: 'spare' | 'demand'): void;
  /** A worker can take requests. */
  ready(): void;
  /** A worker exited before it could take requests, although it was not killed: the engine itself is broken. */
  failed(reason: string): void;
  /** A worker was not ready in time, but others work. */
  late(reason: string): void;
  /** The tool still works, but more slowly, because its usual workers do not start. */
  degraded(reason: string): void;
  /** A worker can take requests, but its engine did not start with its own sandbox. */
  unsandboxed(reason: string): void;
  /** The usual workers start again. */
  recovered(): void;
  /** A worker has exited, for whatever reason. */
  ended(): void;
  /** The files of a worker that has exited cannot be deleted. */
  left(reason: string): void;
  /** A request starts waiting for its turn (1) or stops waiting (-1). */
  waiting(change: 1 | -1): void;
}
