import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { processTree } from '../../functions/engines/worker/linux/proc.ts';
import { textSetting } from '../../functions/shared/settings/environment.ts';

const INTERVAL = 2;

/**
 * Measures how long other work has to wait for this thread: the most CPU time between two turns of a timer, and the total, in
 * milliseconds. Time in which other processes or the host of a virtual machine had the core does not count.
 */
export async function busiestTurn(work: () => Promise<unknown>): Promise<{ longest: number; total: number }> {
  let longest = 0;
  const began = cpuTime();
  let last = began;
  const note = () => {
    const now = cpuTime();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(note, INTERVAL);
  await work();
  clearInterval(timer);
  note();
  return { longest, total: last - began };
}

function cpuTime(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Returns all descendants of some processes. */
export function descendants(...roots: readonly number[]): number[] {
  return processTree(...roots).slice(roots.length);
}

interface Process {
  readonly pid: number;
  readonly command: string;
}

/** Finds the processes of a directory, by their working directory or their environment. */
export function processesBelow(directory: string): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const lives =
          readlinkSync(`/proc/${pid}/cwd`).startsWith(directory) ||
          readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`=${directory}`);
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
        return lives && Number(pid) !== process.pid ? [{ pid: Number(pid), command }] : [];
      } catch {
        // It has just exited, or is another user's.
        return [];
      }
    });
}

const folder = textSetting('NODE_COMPILE_CACHE', undefined);

/** For the environment of Node processes. Without compiled code, each takes most of its time to compile TypeScript. */
export const COMPILE_CACHE = folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };

/** Whether this machine has all of the programs. Tests that compare with other programs are skipped without them. */
export function isInstalled(...programs: readonly string[]): boolean {
  return programs.every((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error === undefined);
}
