import { ConversionError } from '../shared/errors.ts';
import { withAnySignal } from '../shared/timeout.ts';
import type { EngineDependencies } from '../shared/tool.ts';
import type { Work } from './protocol.ts';
import { WorkerPool, type WorkerPoolOptions, type WorkerRequest } from './worker/pool.ts';
import type { WorkerCommand } from './worker/process.ts';
import { sandboxedNode } from './worker/sandbox.ts';

export type ClientDependencies = Pick<
  EngineDependencies,
  'temporary' | 'launcher' | 'size' | 'singleAccount' | 'warm' | 'observer'
>;

/** Timeouts in milliseconds for a request that makes no progress. Waiting for a free worker does not count. */
export interface StallTimeouts {
  /** Maximum time without any answer. */
  readonly stall: number;
  /** Maximum time without another finished part, such as a page. */
  readonly page: number;
}

/** Everything that distinguishes one engine from another. */
interface EngineDescription
  extends Pick<WorkerPoolOptions, 'requests' | 'memory' | 'maxMemory' | 'messages' | 'cancellable'> {
  /** See `WorkerPoolOptions`. */
  readonly cost: number;
  /** Called for every worker with the private directory that is its HOME, TMPDIR and working directory. */
  readonly command: (home: string) => WorkerCommand;
  /** Only for engines that send heartbeats. */
  readonly times?: StallTimeouts | undefined;
}

export type ScriptDependencies = Omit<EngineDependencies, 'egress' | 'download'>;

/** An engine that is a script. */
interface ScriptDescription extends Omit<EngineDescription, 'command'> {
  readonly script: string;
  /** Maximum size of the script's heap in MiB. */
  readonly heap: number;
}

/** Creates the client of a script that runs in sandboxed Node processes. */
export function sandboxedClient(
  dependencies: ScriptDependencies,
  { script, heap, ...description }: ScriptDescription,
): EngineClient {
  const command = sandboxedNode(dependencies, [`--max-old-space-size=${heap}`, script]);
  return new EngineClient({ command, ...description }, dependencies);
}

/** Returns dependencies of a client that a tool works without, so its failures do not count as the tool's. */
export function withoutObserver({ observer: _, ...others }: ScriptDependencies): ScriptDependencies {
  return others;
}

/** Sends requests to an engine. Its workers start on the first request unless they are warmed up. */
export class EngineClient {
  readonly #times: StallTimeouts | undefined;
  readonly #pool: WorkerPool;

  constructor({ command, times, ...limits }: EngineDescription, dependencies: ClientDependencies) {
    this.#times = times;
    const { temporary, launcher, size, singleAccount, warm, observer } = dependencies;
    this.#pool = new WorkerPool(command, {
      temporary,
      launcher,
      size,
      singleAccount,
      warm,
      observer,
      ...limits,
    });
  }

  /** Runs one request; see `WorkerPool.run`. @throws ConversionError also `TIMED_OUT` if the engine makes no progress */
  run<Result>(work: Work, request: WorkerRequest): Promise<Result> {
    if (!this.#times) return this.#pool.run<Result>(work, request);
    return withStallTimeout(request, this.#times, (bounded) => this.#pool.run<Result>(work, bounded));
  }

  async warm(): Promise<void> {
    await this.#pool.warm();
  }

  async close(): Promise<void> {
    await this.#pool.close();
  }
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
