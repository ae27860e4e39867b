import type { EngineDependencies } from '../shared/tool.ts';
import { WorkerPool, type WorkerPoolOptions } from './worker/pool.ts';
import { sandboxedNode } from './worker/sandbox.ts';

/** The dependencies of an engine without a network. */
export type ScriptDependencies = Omit<EngineDependencies, 'egress' | 'download'>;
/** The dependencies of an engine that is a program. */
export type ProgramDependencies = Omit<ScriptDependencies, 'code'>;

/** The limits of an engine that is a script. */
interface Script extends Pick<WorkerPoolOptions, 'requests' | 'memory' | 'maxMemory' | 'messages' | 'times'> {
  readonly script: string;
  /** Maximum size of the script's heap in MiB. */
  readonly heap: number;
  /** See `WorkerPoolOptions`. */
  readonly cost: number;
}

/** Creates the workers of a script, which are sandboxed Node processes. */
export function sandboxedPool(
  dependencies: ScriptDependencies,
  { script, heap, ...limits }: Script,
): WorkerPool {
  const command = sandboxedNode(dependencies, [`--max-old-space-size=${heap}`, script]);
  return new WorkerPool(command, { ...dependencies, ...limits });
}

/** Returns dependencies of an engine that a tool works without, so its failures do not count as the tool's. */
export function withoutObserver({ observer: _, ...others }: ScriptDependencies): ScriptDependencies {
  return others;
}
