import { readFileSync } from 'node:fs';
import { describe } from '../../../shared/log.ts';
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

/** Chromium's own sandbox is required but did not start. The message is for the operator. */
export class OwnSandboxError extends Error {
  override readonly name = 'OwnSandboxError';

  constructor(cause: unknown, settings = readNamespaceSettings()) {
    const reason =
      settings.length > 0 ? ` This machine does not allow user namespaces: ${settings.join(', ')}.` : '';
    super(
      `Chromium did not start with its own sandbox (${describe(cause)}).${reason} Set SANDBOX=best-effort to run it without one.`,
      { cause },
    );
  }
}

/** Kernel settings and the values with which ordinary users cannot create user namespaces. */
const FORBIDDING = {
  'user.max_user_namespaces': '0',
  'kernel.unprivileged_userns_clone': '0',
  'kernel.apparmor_restrict_unprivileged_userns': '1',
};

/** Returns the kernel settings that forbid user namespaces, with their values. */
export function readNamespaceSettings(root = '/proc/sys'): readonly string[] {
  return Object.entries(FORBIDDING).flatMap(([name, forbidding]) => {
    const value = readSetting(`${root}/${name.replaceAll('.', '/')}`);
    return value === forbidding ? [`${name} is ${value}`] : [];
  });
}

function readSetting(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // Only some kernels have this setting.
    return undefined;
  }
}
