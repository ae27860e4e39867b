import type { EngineStatus } from '../engines/worker/observer.ts';

/** The state of each tool's engine, by the tool's name. */
export type Health = Readonly<Record<string, EngineStatus>>;
