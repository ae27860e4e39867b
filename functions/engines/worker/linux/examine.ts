import { closeSync, opendirSync, openSync, readSync, type Stats, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inThread } from './in-thread.ts';
import { type GroupUsage, groupMembers, groupUsage } from './proc.ts';

export interface Examination {
  /** ID of the process group. */
  readonly group: number;
  readonly maxThreads: number;
  /** Whether to also look for files and memory that no directory shows. */
  readonly isThorough: boolean;
}

export interface GroupState extends GroupUsage {
  readonly unlinked: Unlinked;
}

export const NOTHING: GroupState = { memory: 0, threads: 0, demand: 0, unlinked: { disk: 0, memory: 0 } };

/**
 * Measures what the processes of a group use. Synchronous. Takes 2 ms for a browser and up to 100 ms for a
 * compromised engine, which controls how much there is to read.
 */
export function examine({ group, maxThreads, isThorough }: Examination): GroupState {
  const usage = groupUsage(group, maxThreads);
  const isLate = usage.threads > maxThreads;
  return { ...usage, unlinked: isThorough && !isLate ? findUnlinked(groupMembers(group)) : NOTHING.unlinked };
}

const BLOCK_BYTES = 512;
/** Number of open files above which processes count as holding unlimited bytes. A browser has fewer than 1000. */
const MAX_DESCRIPTORS = 5000;
/**
 * Maximum bytes of mapping lists. Processes with more count as using unlimited memory. A browser has less than 1
 * million.
 */
const MAX_MAPPINGS = 8_000_000;
const CHUNK = 65_536;
/**
 * Default buffer sizes. The kernel limits all larger pipes of a user together to 64 MiB; see pipe(7) and socket(7).
 */
const PIPE_BYTES = 65_536;
const SOCKET_BYTES = 212_992;

/** Memory and disk space of files that are in no directory but held by processes. */
interface Unlinked {
  /** Disk space in bytes of deleted files that are open or mapped. */
  readonly disk: number;
  /** Memory in bytes: shareable mappings, not all of which count as resident, and kernel buffers. */
  readonly memory: number;
}

/**
 * Finds deleted files and shared memory of processes, each counted once. Skips processes that have ended.
 */
function findUnlinked(pids: readonly number[]): Unlinked {
  const files = new Map<string, number>();
  const memory = new Map<string, number>();
  let descriptors = 0;
  let mappings = 0;
  for (const pid of pids) {
    const open = listAtMost(`/proc/${pid}/fd`, MAX_DESCRIPTORS + 1);
    descriptors += open.length;
    if (descriptors > MAX_DESCRIPTORS) return { disk: Number.POSITIVE_INFINITY, memory: 0 };
    for (const descriptor of open) {
      const stats = statOf(`/proc/${pid}/fd/${descriptor}`);
      addFile(files, stats);
      addBuffer(memory, stats);
    }
    const text = readAtMost(`/proc/${pid}/maps`, MAX_MAPPINGS + 1);
    mappings += text.length;
    if (mappings > MAX_MAPPINGS) return { disk: 0, memory: Number.POSITIVE_INFINITY };
    addMappings(pid, text, { files, memory });
  }
  return { disk: sum(files), memory: sum(memory) };
}

/** Counts a file unless a directory contains it. Returns whether it could be examined. */
function addFile(files: Map<string, number>, stats: Stats | undefined): boolean {
  if (!stats?.isFile() || stats.nlink > 0) return stats !== undefined;
  // Inode numbers are unique, because an engine creates files on one file system only.
  keepLargest(files, String(stats.ino), BLOCK_BYTES * stats.blocks);
  return true;
}

/**
 * Counts the bytes that the kernel can buffer for a pipe or a socket until they are read. They belong to no process.
 */
function addBuffer(memory: Map<string, number>, stats: Stats | undefined): void {
  if (stats?.isFIFO()) memory.set(`pipe ${stats.ino}`, PIPE_BYTES);
  if (stats?.isSocket()) memory.set(`socket ${stats.ino}`, SOCKET_BYTES);
}

/** Reads the mappings of deleted files and shared memory; see proc_pid_maps(5). */
function addMappings(
  pid: number,
  text: string,
  { files, memory }: { files: Map<string, number>; memory: Map<string, number> },
): void {
  for (const [, range, offset, inode, name] of text.matchAll(
    /^([0-9a-f]+-[0-9a-f]+) \S+ ([0-9a-f]+) \S+ (\d+) +(\S.*) \(deleted\)$/gm,
  )) {
    // Counts the whole file if its size is known, because mapping a part of a file keeps all of it. Only root may
    // look.
    const isShared = name === '/dev/zero';
    if (!isShared && addFile(files, statOf(`/proc/${pid}/map_files/${range}`))) continue;
    const [start, end] = range!.split('-').map((hex) => Number.parseInt(hex, 16)) as [number, number];
    keepLargest(isShared ? memory : files, inode!, Number.parseInt(offset!, 16) + end - start);
  }
}

function keepLargest(bytes: Map<string, number>, inode: string, least: number): void {
  bytes.set(inode, Math.max(least, bytes.get(inode) ?? 0));
}

function sum(bytes: ReadonlyMap<string, number>): number {
  return [...bytes.values()].reduce((total, each) => total + each, 0);
}

function listAtMost(directory: string, max: number): string[] {
  const names: string[] = [];
  try {
    using opened = opendirSync(directory, { bufferSize: 256 });
    for (let entry = opened.readSync(); entry && names.length < max; entry = opened.readSync())
      names.push(entry.name);
  } catch {
    // The process has ended.
  }
  return names;
}

/** Reads at most this many bytes of a file whose size is unknown. */
function readAtMost(path: string, max: number): string {
  const chunk = Buffer.alloc(CHUNK);
  const parts: string[] = [];
  let descriptor: number | undefined;
  try {
    descriptor = openSync(path, 'r');
    for (let left = max; left > 0; ) {
      const length = readSync(descriptor, chunk, 0, Math.min(CHUNK, left), null);
      if (length === 0) break;
      parts.push(chunk.toString('latin1', 0, length));
      left -= length;
    }
  } catch {
    // The process has ended.
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  return parts.join('');
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}

const EVERYTHING: GroupState = {
  memory: Number.POSITIVE_INFINITY,
  threads: Number.POSITIVE_INFINITY,
  demand: Number.POSITIVE_INFINITY,
  unlinked: { disk: Number.POSITIVE_INFINITY, memory: Number.POSITIVE_INFINITY },
};

/**
 * Measures what the processes of a group use, and kills them if they have more than `maxThreads`. Runs in a thread,
 * because a compromised engine can start thousands of processes before it is noticed.
 */
export const watchGroup = inThread<Examination, GroupState>(
  fileURLToPath(new URL('./watch-thread.ts', import.meta.url)),
  { fallback: examine, failed: EVERYTHING, skipped: NOTHING },
);
