import { readdir, readFile, readlink } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { inThread } from './in-thread.ts';

/**
 * Kills processes that an engine started in a session of their own, which a signal to its process group does not
 * reach. Their parent is init, so they are found by the engine's home directory. Runs in a thread, because it looks
 * at every process of the machine.
 */
export const killOrphans = inThread<string, void>(
  fileURLToPath(new URL('./orphans-thread.ts', import.meta.url)),
  { fallback: killOrphansHere, failed: undefined, skipped: undefined },
);

/**
 * Kills the orphans of an engine, in the calling thread. Asynchronous, because reading the environment of a process
 * may block.
 */
export async function killOrphansHere(home: string): Promise<void> {
  // A process that is being started during one round is found in the next.
  for (let round = 0; round < 5; round++) {
    const orphans = await findOrphans(home);
    if (orphans.length === 0) return;
    for (const pid of orphans) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has already exited.
      }
    }
  }
}

async function findOrphans(home: string): Promise<number[]> {
  // There may be no free file descriptor.
  const names = await readdir('/proc').catch(() => []);
  const orphans: number[] = [];
  for (const pid of names.map(Number)) {
    if (Number.isInteger(pid) && pid !== process.pid && (await belongsTo(home, pid))) orphans.push(pid);
  }
  return orphans;
}

/** Returns false for a process that has ended or is another user's. */
async function belongsTo(home: string, pid: number): Promise<boolean> {
  const directory = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
  if (directory === undefined) return false;
  if (isBelow(home, directory)) return true;
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  return environment.split('\0').some((each) => each.startsWith('HOME=') && isBelow(home, each.slice(5)));
}

function isBelow(home: string, path: string): boolean {
  return path === home || path.startsWith(`${home}/`) || path === `${home} (deleted)`;
}
