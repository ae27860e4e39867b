import { readdirSync, readFileSync } from 'node:fs';
import { memoryOf } from '../../worker/memory.ts';

/** Answers the resident MiB of a browser and all its processes. */
export function browserMemory(browser: number): number {
  return family(browser).reduce((sum, pid) => sum + memoryOf(pid), 0);
}

/** Finds the processes that all pages of a browser need: the one that reaches the network, and those they are forked from. */
export function findHelperProcesses(browser: number): number[] {
  return family(browser).filter((pid) =>
    /network\.mojom\.NetworkService|--type=zygote/.test(read(pid, 'cmdline')),
  );
}

/** Whether a process runs; one that has ended has no command line. */
export function isAlive(pid: number): boolean {
  return read(pid, 'cmdline') !== '';
}

/** A process and all its descendants. */
function family(root: number): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  const parents = new Map(pids.map((name) => [Number(name), parentOf(Number(name))]));
  const belongs = (pid: number): boolean => {
    const parent = parents.get(pid);
    return pid === root || (parent !== undefined && parent > 0 && belongs(parent));
  };
  return [...parents.keys()].filter(belongs);
}

function parentOf(pid: number): number {
  return Number(/\) \S (\d+) /.exec(read(pid, 'stat'))?.[1] ?? 0);
}

function read(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    // The process has ended.
    return '';
  }
}
