import { availableParallelism, loadavg } from 'node:os';

/** Describes the machine that measured, for the text above a table. */
export function describeMachine(): string {
  return `${availableParallelism()} cores, Node.js ${process.version}, load ${loadavg()[0]!.toFixed(1)} at the end`;
}
