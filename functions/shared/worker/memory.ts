import { readdirSync, readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** Answers the resident MiB of one process; 0 when it has ended. */
export function memoryOf(pid: number): number {
  return statOf(pid).memory;
}

/** Answers the resident MiB of all processes of a group. */
export function memoryOfGroup(group: number): number {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return pids.map(statOf).reduce((sum, stat) => sum + (stat.group === group ? stat.memory : 0), 0);
}

function statOf(pid: number): { group: number; memory: number } {
  try {
    // The name of the program stands in parentheses and may hold anything; the state follows it (proc_pid_stat(5)).
    const fields = readFileSync(`/proc/${pid}/stat`, 'latin1')
      .replace(/^.*\) /s, '')
      .split(' ');
    return { group: Number(fields[2]), memory: (Number(fields[21]) * PAGE_BYTES) / 2 ** 20 };
  } catch {
    return { group: 0, memory: 0 };
  }
}
