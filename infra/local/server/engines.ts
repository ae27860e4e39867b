import { createHandler } from '../../../functions/conversion/handler.ts';
import { EngineState, observeAll } from '../../../functions/engines/worker/observer.ts';
import type { Health, Invoke } from '../../../functions/platform/invoke.ts';
import { describe, type Log } from '../../../functions/shared/log.ts';
import type { CreateEngine, EngineDependencies, Tool } from '../../../functions/shared/tool.ts';
import type { WorkerObserver } from '../../../functions/shared/warm-workers.ts';

type HandlerDependencies = Parameters<typeof createHandler>[2];

interface Engines {
  /** The function that runs each tool, by name. */
  readonly handlers: ReadonlyMap<string, Invoke>;
  /** Starts the engines of these tools, all by default. */
  warm(names?: readonly string[]): Promise<void>;
  /** Returns the state of every tool. Engines that are broken are restarted, but not for every request. */
  health(): Promise<Health>;
  close(): Promise<void>;
}

/** Minimum milliseconds between two attempts to start what is broken. */
const RESTART_INTERVAL = 5000;

/** Loads the engine of every tool from the folder with the tool's name. */
export async function loadEngines(
  tools: readonly Tool[],
  dependencies: EngineDependencies & HandlerDependencies,
  workersOf: (tool: string) => WorkerObserver,
): Promise<Engines> {
  const loaded = await Promise.all(
    tools.map(async (tool) => {
      const { createEngine } = (await import(`../../../functions/${tool.name}/convert.ts`)) as {
        createEngine: CreateEngine<Tool>;
      };
      const state = new EngineState((reason) =>
        dependencies.log('browser not sandboxed', { tool: tool.name, reason }, 'warn'),
      );
      const observer = observeAll(state, workersOf(tool.name), logStarts(tool.name, dependencies.log));
      const engine = createEngine({ ...dependencies, observer });
      const handler = createHandler(tool, engine, dependencies);
      return { state, engine, entry: [tool.name, handler] as const };
    }),
  );
  let restarted = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  return {
    health: async () => {
      if (performance.now() - restarted > RESTART_INTERVAL) {
        restarted = performance.now();
        for (const { state } of loaded) void state.restart();
      }
      return Object.fromEntries(loaded.map(({ state, entry: [name] }) => [name, state.status]));
    },
    handlers: new Map(loaded.map(({ entry }) => entry)),
    warm: async (names = tools.map(({ name }) => name)) => {
      const chosen = loaded.filter(({ entry: [tool] }) => names.includes(tool));
      // One broken engine must not stop the others from working.
      await Promise.all(
        chosen.map(({ engine, entry: [tool] }) =>
          engine.warm?.().catch((error: unknown) => {
            // Closing kills an engine that is still starting.
            if (!isClosed) dependencies.log('engine not started', { tool, cause: describe(error) }, 'error');
          }),
        ),
      );
    },
    close: async () => {
      isClosed = true;
      await Promise.all(loaded.map(({ engine }) => engine.close()));
    },
  };
}

/**
 * Logs why workers do not start, or leave files behind. A spare fails without a request, so no other log line would
 * say so.
 */
function logStarts(tool: string, log: Log): Pick<WorkerObserver, 'failed' | 'late' | 'left'> {
  const write = (cause: string) => log('worker not started', { tool, cause }, 'warn');
  const left = (cause: string) => log('worker files not deleted', { tool, cause }, 'error');
  return { failed: write, late: write, left };
}
