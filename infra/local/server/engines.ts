import { createHandler } from '../../../functions/shared/conversion/handler.ts';
import type { Invoke } from '../../../functions/shared/invoke/invoke.ts';
import type { CreateEngine, EngineDependencies, Tool } from '../../../functions/shared/tool.ts';

type HandlerDependencies = Parameters<typeof createHandler>[2];

export interface Engines {
  /** What runs each tool, by its name. */
  readonly handlers: ReadonlyMap<string, Invoke>;
  /** Starts every engine ahead of the first conversion. */
  warm(): Promise<void>;
  close(): Promise<void>;
}

/** Loads the engine of every tool: the folder's name is the tool's. */
export async function loadEngines(
  tools: readonly Tool[],
  dependencies: EngineDependencies & HandlerDependencies,
): Promise<Engines> {
  const loaded = await Promise.all(
    tools.map(async (tool) => {
      const { createEngine } = (await import(`../../../functions/${tool.name}/convert.ts`)) as {
        createEngine: CreateEngine<Tool>;
      };
      const engine = createEngine(dependencies);
      return { engine, entry: [tool.name, createHandler(tool, engine, dependencies)] as const };
    }),
  );
  return {
    handlers: new Map(loaded.map(({ entry }) => entry)),
    warm: async () => {
      await Promise.all(loaded.map(({ engine }) => engine.warm?.()));
    },
    close: async () => {
      await Promise.all(loaded.map(({ engine }) => engine.close()));
    },
  };
}
