import { processTree, readProcess, readStat, readThreads } from '../../worker/linux/proc.ts';

/**
 * Returns a browser and all its descendants. Where the kernel lists children, it reads nothing about other processes:
 * when this process, which has a low priority, inspects one that has just exited, the server waits for it in a loop;
 * see `readThreads`.
 */
export function browserTree(browser: number): number[] {
  const tree = new Set([browser]);
  for (const pid of tree)
    for (const children of readThreads([pid], 'children'))
      for (const child of children.match(/\d+/g) ?? []) tree.add(Number(child));
  return tree.size > 1 ? [...tree] : processTree(browser);
}

/** Returns the resident MiB of a browser and all its processes. */
export function browserMemory(browser: number): number {
  return browserTree(browser).reduce((sum, pid) => sum + readStat(pid).memory, 0);
}

/**
 * Finds the processes that all pages of a browser need: the network service, and the zygotes that fork the others.
 */
export function findHelperProcesses(browser: number): number[] {
  return browserTree(browser).filter((pid) =>
    /network\.mojom\.NetworkService|--type=zygote/.test(readProcess(pid, 'cmdline')),
  );
}

/** Whether a thread of the processes is running, or waits for a processor or a disk. */
export function areBusy(processes: readonly number[]): boolean {
  return readThreads(processes, 'stat').some((line) => /\) [RD] /.test(line));
}

/** Whether a process is running: one that has exited has no command line. */
export function isAlive(pid: number): boolean {
  return readProcess(pid, 'cmdline') !== '';
}
