import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Ends what an engine started in a session of its own, out of reach of a signal to its group: told by the engine's home directory. */
export function killOrphans(home: string): void {
  // What is being started while we look is found in the next round.
  for (let round = 0; round < 5; round++) {
    const strays = processes().filter((pid) => pid !== process.pid && belongs(pid, home));
    if (strays.length === 0) return;
    for (const pid of strays) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It ended by itself.
      }
    }
  }
}

/** Every process, ours or not: a stray has been handed to init, so its parent tells nothing. */
function processes(): number[] {
  return readdirSync('/proc').map(Number).filter(Number.isInteger);
}

function belongs(pid: number, home: string): boolean {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0');
    return variables.includes(`HOME=${home}`) || within(readlinkSync(`/proc/${pid}/cwd`), home);
  } catch {
    // It has ended, is a zombie, or is another user's.
    return false;
  }
}

function within(path: string, home: string): boolean {
  return path === home || path.startsWith(`${home}/`) || path === `${home} (deleted)`;
}
