import { fileURLToPath } from 'node:url';
import { inThread } from './in-thread.ts';
import { killOrphansHere } from './kill-orphans.ts';

/**
 * Kills processes that an engine started in a session of their own, which a signal to its process group does not
 * reach. Their parent is init, so they are found by the engine's home directory. Runs in a thread, because it looks
 * at every process of the machine.
 */
export const killOrphans = inThread<string, void>(
  fileURLToPath(new URL('./orphans-thread.ts', import.meta.url)),
  { fallback: killOrphansHere, failed: undefined, skipped: undefined },
);
