import { fileURLToPath } from 'node:url';
import { inThread } from './in-thread.ts';
import { killOrphansHere } from './kill-orphans.ts';

/**
 * Kills what an engine started in a session of its own, which a signal to its process group does not reach. Such a
 * process is found by the engine's home directory, because its parent is init. In a thread, because it looks at every process
 * of the machine.
 */
export const killOrphans = inThread<string, void>(
  fileURLToPath(new URL('./orphans-thread.ts', import.meta.url)),
  { fallback: killOrphansHere, failed: undefined, skipped: undefined },
);
