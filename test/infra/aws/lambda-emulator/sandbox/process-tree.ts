import { ownMemory, processTree, readStat } from '../../../../../functions/shared/worker/linux/proc.ts';

/** Sends a signal to all processes of a tree, repeatedly until no new one appears. */
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

/** MiB that a process, alone or with its descendants, counts against a function's memory. */
export function memoryOf(root: number, which: 'all' | 'alone' = 'all'): number {
  return ownMemory(which === 'all' ? processTree(root) : [root]);
}

/** Returns the CPU milliseconds of a process tree so far, including processes that have ended. */
export function processorOf(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + readStat(pid).cpuTime, 0);
}
