import { readFileSync } from 'node:fs';
import { processTree, readStat } from '../../../functions/engines/worker/linux/proc.ts';

/** Returns the milliseconds of CPU time that a process and all its descendants have used, in steps of 10 ms. */
export function processTime(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + readStat(each).cpuTime, 0);
}

/** Returns the MiB (PSS) of a process and all its descendants. A process that has ended counts as 0. */
export function processMemory(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + proportionalMemory(each), 0);
}

export function processNumber(pid: number): number {
  return processTree(pid).length;
}

function proportionalMemory(pid: number): number {
  try {
    const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1');
    return Number(/^Pss: +(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}
