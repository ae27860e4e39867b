import { ROUTER_MEMORY } from '../../shared/settings/aws.ts';
import type { Tool } from '../../shared/tool.ts';

/** The facts about a deployment that determine its cost. They are stack outputs. */
export interface Sizes {
  /** MiB of each function by name, including `router`. */
  readonly memory: Readonly<Record<string, number>>;
  /** Whether each account has its own execution environments. */
  readonly isolated: boolean;
}

/** Returns the sizes of a deployment with default settings. */
export function defaultSizes(tools: readonly Tool[]): Sizes {
  const memory = Object.fromEntries(tools.map(({ name, sizing }) => [name, sizing.memory]));
  return { memory: { ...memory, router: ROUTER_MEMORY }, isolated: true };
}
