import { readdirSync, readFileSync } from 'node:fs';

const PAGE_BYTES = 4096;

/** Returns the IDs of all processes on this machine. */
export function listProcesses(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    // No file descriptor is free. The callers will try again soon.
    return [];
  }
}

/**
 * Returns the content of a file in `/proc/<pid>`, or an empty string if the process has exited or is another user's.
 */
export function readProcess(
  pid: number,
  file: 'cmdline' | 'environ' | 'schedstat' | 'smaps_rollup' | 'stat' | 'status',
): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

interface ProcessStat {
  /** 0 if the process has exited. */
  readonly parent: number;
  readonly group: number;
  /** Resident MiB. */
  readonly memory: number;
  readonly threads: number;
  /** CPU time in milliseconds, including child processes that have exited. */
  readonly cpuTime: number;
}

/** Reads `/proc/<pid>/stat`. Every number is 0 if the process has exited. See proc_pid_stat(5). */
export function readStat(pid: number): ProcessStat {
  // The program's name is in parentheses and may contain any character. The state follows it.
  const fields = readProcess(pid, 'stat')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map((field) => Number(field) || 0);
  return {
    parent: fields[1] ?? 0,
    group: fields[2] ?? 0,
    memory: ((fields[21] ?? 0) * PAGE_BYTES) / 2 ** 20,
    threads: fields[17] ?? 0,
    // A clock tick is 10 ms.
    cpuTime: 10 * fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0),
  };
}

/** How long the threads of processes have run, and how long they have waited for a processor, in milliseconds. */
interface ThreadTimes {
  readonly running: number;
  readonly waiting: number;
}

/**
 * Returns the sums over all threads of the processes, or `undefined` where the kernel does not provide them. See
 * `schedstats` in proc(5).
 */
export function threadTimes(pids: readonly number[]): ThreadTimes | undefined {
  const lines = readThreads(pids, 'schedstat').map((line) => line.split(' ').map(Number));
  if (lines.length === 0) return undefined;
  const sum = (column: number) => lines.reduce((all, times) => all + (times[column] ?? 0), 0) / 1e6;
  return { running: sum(0), waiting: sum(1) };
}

/**
 * Returns a file of every thread of some processes. The server must not call this for its own children. The kernel
 * caches directory entries of listed threads, and each thread removes its entry as it exits. If a thread with a low
 * priority is preempted while it does, whoever reaps the process waits for it in a loop. On Linux 6.18, that took the
 * server's main thread up to 1.1 s.
 */
export function readThreads(pids: readonly number[], file: 'children' | 'schedstat' | 'stat'): string[] {
  return pids.flatMap((pid) => {
    try {
      return readdirSync(`/proc/${pid}/task`).map((thread) =>
        readFileSync(`/proc/${pid}/task/${thread}/${file}`, 'latin1'),
      );
    } catch {
      // The process, or one of its threads, has just exited.
      return [];
    }
  });
}

/** Returns the processes and all their descendants. */
export function processTree(...roots: readonly number[]): number[] {
  return descendants(roots, listChildren());
}

/** Returns the children of every process on this machine. */
export function listChildren(): Map<number, number[]> {
  const children = new Map<number, number[]>();
  for (const pid of listProcesses()) {
    const { parent } = readStat(pid);
    children.set(parent, [...(children.get(parent) ?? []), pid]);
  }
  return children;
}

/** Returns the processes and all their descendants, given the children of every process. */
export function descendants(
  roots: readonly number[],
  children: ReadonlyMap<number, readonly number[]>,
): number[] {
  const tree = new Set(roots);
  for (const pid of tree) for (const child of children.get(pid) ?? []) tree.add(child);
  return [...tree];
}

/** Number of new processes per group after which listing stops, because no engine may have more. */
const MAX_NEW = 1000;
/** How long a process list is reused, and when cached groups are dropped, because IDs are reused. In milliseconds. */
const LIST_TTL = 200;
const GROUP_TTL = 1000;
/** The process group of each process. A process that leaves its group still counts as a member. */
const groups = new Map<number, number>();
let listedAt = Number.NEGATIVE_INFINITY;

/** Returns all processes in a process group. Called several times a second, so it reads only new processes. */
export function groupMembers(group: number): number[] {
  listGroups();
  // The first process may have been listed before it left the server's group, and before its ID was its own.
  return [...groups].filter(([pid, own]) => own === group || pid === group).map(([pid]) => pid);
}

export interface GroupUsage {
  /** Resident MiB with page tables. */
  readonly memory: number;
  readonly threads: number;
  /** How long the processes have run, or their main threads have waited for a processor, in milliseconds. */
  readonly demand: number;
}

/** Returns the resource usage of a process group. Stops counting above `max` threads. */
export function groupUsage(group: number, max = Number.POSITIVE_INFINITY): GroupUsage {
  const usage = { memory: 0, threads: 0, demand: 0 };
  for (const pid of groupMembers(group)) {
    const { memory, threads, cpuTime } = readStat(pid);
    usage.memory += memory + pageTables(pid);
    usage.threads += threads;
    usage.demand += cpuTime + waitingTime(pid);
    if (usage.threads > max) break;
  }
  return usage;
}

/**
 * Returns the milliseconds that the main thread of a process has waited for a processor. Other threads are left out,
 * because listing them could block the server; see `readThreads`.
 */
function waitingTime(pid: number): number {
  return Number(readProcess(pid, 'schedstat').split(' ')[1] ?? 0) / 1e6;
}

/**
 * Returns the MiB of a process's page tables, which do not count as resident. Reading one byte in every 2 MiB of
 * untouched memory takes 4 KiB each.
 */
function pageTables(pid: number): number {
  return Number(/^VmPTE:\s+(\d+)/m.exec(readProcess(pid, 'status'))?.[1] ?? 0) / 1024;
}

function listGroups(): void {
  const now = performance.now();
  if (now - listedAt < LIST_TTL) return;
  if (now - listedAt > GROUP_TTL) groups.clear();
  listedAt = now;
  const pids = new Set(listProcesses());
  for (const pid of groups.keys()) if (!pids.has(pid)) groups.delete(pid);
  const added = new Map<number, number>();
  for (const pid of pids) {
    if (groups.has(pid)) continue;
    const { group } = readStat(pid);
    // The process has exited, and a new one could get its ID.
    if (group === 0) continue;
    groups.set(pid, group);
    const count = (added.get(group) ?? 0) + 1;
    added.set(group, count);
    // An engine that never stops starting processes would start more than can be read in the meantime.
    if (count > MAX_NEW) return;
  }
}

/**
 * Returns the MiB that only these processes use: anonymous and shared memory, each page counted once, without mapped
 * files.
 */
export function ownMemory(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => {
    const text = readProcess(pid, 'smaps_rollup');
    const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    return sum + (kibibytes('Pss_Anon') + kibibytes('Pss_Shmem')) / 1024;
  }, 0);
}
