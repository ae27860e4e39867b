import type { EngineStatus } from '../engines/worker/observer.ts';

/** State of a tool: that of its engine, or `busy` if too many conversions were running to ask it. */
export type ToolStatus = EngineStatus | 'busy';

/** The state of each tool, by the tool's name. */
export type Health = Readonly<Record<string, ToolStatus>>;

/** State of something that all tools need. */
export type MachineStatus = EngineStatus | 'full';
