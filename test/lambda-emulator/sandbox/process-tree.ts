import {
  descendants,
  listChildren,
  ownMemory,
  processTree,
  readProcess,
  readStat,
} from '../../../functions/engines/worker/linux/proc.ts';

/** How long a list of all processes is reused for measuring, in milliseconds. */
const LISTED = 200;
let listed = { at: Number.NEGATIVE_INFINITY, children: listChildren() };

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

/** Whether a process has been sent SIGKILL and still exists. */
export function isKilled(pid: number): boolean {
  // SIGKILL is bit 8 of the pending signals, which are hexadecimal.
  const [, digit = '0'] = /^SigPnd:.*([0-9a-f])[0-9a-f]{2}$/m.exec(readProcess(pid, 'status')) ?? [];
  return Number.parseInt(digit, 16) % 2 === 1;
}

/** MiB that a process, alone or with its descendants, counts against a function's memory. */
export function memoryOf(root: number, which: 'all' | 'alone' = 'all'): number {
  return ownMemory(which === 'all' ? processTree(root) : [root]);
}

/**
 * Returns the MiB that a process and its descendants count, or `known` if they count less. Dozens of sandboxes are measured
 * several times a second, so all of them use one list of processes, and the exact figure, which takes milliseconds, is read only
 * if it could be higher.
 */
export function highestMemory(root: number, known: number): number {
  const now = performance.now();
  if (now - listed.at > LISTED) listed = { at: now, children: listChildren() };
  const pids = descendants([root], listed.children);
  const most = pids.reduce((sum, pid) => sum + residentMemory(pid), 0);
  return most > known ? Math.max(known, ownMemory(pids)) : known;
}

/** MiB of anonymous and shared memory, with pages that several processes share counted in each. */
function residentMemory(pid: number): number {
  const text = readProcess(pid, 'status');
  const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
  return (kibibytes('RssAnon') + kibibytes('RssShmem')) / 1024;
}

/** Returns the CPU milliseconds of a process tree so far, including processes that have ended. */
export function processorOf(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + readStat(pid).cpuTime, 0);
}
