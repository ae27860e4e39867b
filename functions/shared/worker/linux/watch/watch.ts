import { fileURLToPath } from 'node:url';
import { groupMembers, groupUsage } from '../proc.ts';
import { inThread } from './in-thread.ts';
import { findUnlinked, type Unlinked } from './unlinked.ts';

export interface UsageRequest {
  readonly group: number;
  readonly mostThreads: number;
}

export type GroupUsage = ReturnType<typeof groupUsage>;

/**
 * Returns the resident MiB and the threads of all processes in a process group, and kills them if they have more than
 * `mostThreads`. In a thread, because a compromised engine can start thousands of processes before it is noticed.
 */
export const watchUsage = inThread<UsageRequest, GroupUsage>(
  fileURLToPath(new URL('./usage-thread.ts', import.meta.url)),
  ({ group, mostThreads }) => groupUsage(group, mostThreads),
);

/**
 * Finds deleted files and shared memory of all processes in a process group. In a thread of its own: a browser takes 2 ms,
 * a compromised engine much longer, and it can make who reads its mappings wait.
 */
export const watchUnlinked = inThread<number, Unlinked>(
  fileURLToPath(new URL('./unlinked-thread.ts', import.meta.url)),
  (group) => findUnlinked(groupMembers(group)),
);
