import { existsSync, mkdtempSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const CGROUPS = '/sys/fs/cgroup';
/** Microseconds over which the kernel measures a share. */
const PERIOD = 100_000;
/** MiB for which Lambda gives a function one processor. */
const MEMORY_OF_ONE = 1769;
/** Attempts to remove a group, whose last processes may still be ending, and milliseconds between them. */
const REMOVALS = 20;
const PAUSE = 100;

/** A control group whose processes together get Lambda's share of the processors for a function's memory. */
export interface ProcessorShare {
  /** The file to which a process writes its ID to join. */
  readonly members: string;
  /** Removes the group once its processes have ended. */
  close(): void;
}

/** Returns a share for a function with `memory` MiB. @throws Error if this machine does not let this user limit processors. */
export function createProcessorShare(memory: number): ProcessorShare {
  const quota = Math.round((PERIOD * memory) / MEMORY_OF_ONE);
  const isFirstVersion = existsSync(join(CGROUPS, 'cpu/cpu.cfs_quota_us'));
  let group = '';
  try {
    // Not named by the process ID, which is the same in every namespace.
    group = mkdtempSync(join(CGROUPS, isFirstVersion ? 'cpu' : '', 'lambda-'));
    if (isFirstVersion) {
      writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD));
      writeFileSync(join(group, 'cpu.cfs_quota_us'), String(quota));
    } else writeFileSync(join(group, 'cpu.max'), `${quota} ${PERIOD}`);
  } catch (cause) {
    remove(group);
    throw new Error('This user may not limit the processors of a control group.', { cause });
  }
  return { members: join(group, 'cgroup.procs'), close: () => remove(group) };
}

/** Whether shares work here. */
export function hasProcessorShares(): boolean {
  try {
    createProcessorShare(MEMORY_OF_ONE).close();
    return true;
  } catch {
    return false;
  }
}

function remove(group: string, attempt = 1): void {
  try {
    rmdirSync(group);
  } catch {
    // It does not exist, or a process has not ended yet.
  }
  if (existsSync(group) && attempt < REMOVALS) setTimeout(() => remove(group, attempt + 1), PAUSE);
}
