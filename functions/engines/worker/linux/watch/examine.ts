import { groupMembers, groupUsage } from '../proc.ts';
import { findUnlinked, type Unlinked } from './unlinked.ts';

export interface Examination {
  /** ID of the process group. */
  readonly group: number;
  readonly maxThreads: number;
  /** Whether to look for files and memory that no directory shows, too. */
  readonly isThorough: boolean;
}

export interface GroupState extends ReturnType<typeof groupUsage> {
  readonly unlinked: Unlinked;
}

export const NOTHING: GroupState = { memory: 0, threads: 0, unlinked: { disk: 0, memory: 0 } };

/**
 * Finds what the processes of a group use. Synchronous. It takes 2 ms for a browser and up to 100 ms for a compromised
 * engine, which decides how much there is to read.
 */
export function examine({ group, maxThreads, isThorough }: Examination): GroupState {
  const usage = groupUsage(group, maxThreads);
  const isLate = usage.threads > maxThreads;
  return { ...usage, unlinked: isThorough && !isLate ? findUnlinked(groupMembers(group)) : NOTHING.unlinked };
}
