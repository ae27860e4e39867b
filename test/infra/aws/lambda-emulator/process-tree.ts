import { processTree, readProcess, readStat } from '../../../../functions/shared/worker/proc.ts';

/** Sends a signal to all of them, again until no new one has appeared. */
export function signalTree(root: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  const seen = new Set<number>();
  for (let round = 0; round < 5; round++) {
    const fresh = processTree(root).filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      seen.add(pid);
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended.
      }
    }
  }
}

/** MiB of memory of a process and all below it, or of it alone, that count against a function: its own pages and shared memory, not files it has mapped. */
export function memoryOf(root: number, which: 'all' | 'alone' = 'all'): number {
  const pids = which === 'all' ? processTree(root) : [root];
  return pids.reduce((sum, pid) => {
    const text = readProcess(pid, 'smaps_rollup');
    const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    return sum + (kibibytes('Pss_Anon') + kibibytes('Pss_Shmem')) / 1024;
  }, 0);
}

/** Returns the CPU milliseconds of a process tree so far, including processes that have ended. */
export function processorOf(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + readStat(pid).cpuTime, 0);
}
