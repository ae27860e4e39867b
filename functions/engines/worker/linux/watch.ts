import { fileURLToPath } from 'node:url';
import { type Examination, examine, type GroupState, NOTHING } from './examine.ts';
import { inThread } from './in-thread.ts';

const EVERYTHING: GroupState = {
  memory: Number.POSITIVE_INFINITY,
  threads: Number.POSITIVE_INFINITY,
  demand: Number.POSITIVE_INFINITY,
  unlinked: { disk: Number.POSITIVE_INFINITY, memory: Number.POSITIVE_INFINITY },
};

/**
 * Measures what the processes of a group use, and kills them if they have more than `maxThreads`. Runs in a thread,
 * because a compromised engine can start thousands of processes before it is noticed.
 */
export const watchGroup = inThread<Examination, GroupState>(
  fileURLToPath(new URL('./watch-thread.ts', import.meta.url)),
  { fallback: examine, failed: EVERYTHING, skipped: NOTHING },
);
