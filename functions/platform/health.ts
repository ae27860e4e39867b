import type { EngineStatus } from '../engines/worker/observe/state.ts';

/** The state of each tool's engine, by the tool's name. */
export type Health = Readonly<Record<string, EngineStatus>>;
