import type { EngineStatus } from '../engines/worker/observer.ts';

/** The state of a tool: that of its engine, or `busy` if it could not be asked because too many conversions are running. */
export type ToolStatus = EngineStatus | 'busy';

/** The state of each tool, by the tool's name. */
export type Health = Readonly<Record<string, ToolStatus>>;

/** The state of something that all tools need. */
export type MachineStatus = EngineStatus | 'full';
