import { readlinkSync } from 'node:fs';
import { listProcesses, readProcess } from './proc.ts';

/**
 * Kills what an engine started in a session of its own, which a signal to its process group does not reach. Such a
 * process is found by the engine's home directory, because its parent is init.
 */
export function killOrphans(home: string): void {
  // A process that is being started during one round is found in the next.
  for (let round = 0; round < 5; round++) {
    const orphans = listProcesses().filter((pid) => pid !== process.pid && belongsTo(home, pid));
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

function belongsTo(home: string, pid: number): boolean {
  if (readProcess(pid, 'environ').split('\0').includes(`HOME=${home}`)) return true;
  try {
    return isBelow(home, readlinkSync(`/proc/${pid}/cwd`));
  } catch {
    // It has ended, is a zombie, or is another user's.
    return false;
  }
}

function isBelow(home: string, path: string): boolean {
  return path === home || path.startsWith(`${home}/`) || path === `${home} (deleted)`;
}
