import { processTree, readStat } from '../../../functions/engines/worker/linux/proc.ts';

/** Returns the milliseconds of CPU time that a process and all its descendants have used, in steps of 10 ms. */
export function processTime(pid: number): number {
  return processTree(pid).reduce((sum, each) => sum + readStat(each).cpuTime, 0);
}
