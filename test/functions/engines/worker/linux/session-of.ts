import { readProcess } from '../../../../../functions/engines/worker/linux/proc.ts';

/** Returns the session of a process; see proc_pid_stat(5). */
export function sessionOf(pid: number): number {
  return Number(
    readProcess(pid, 'stat')
      .replace(/^.*\) /s, '')
      .split(' ')[3],
  );
}
