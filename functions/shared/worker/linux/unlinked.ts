import { readdir, readFile, stat } from 'node:fs/promises';

const BLOCK_BYTES = 512;
/** Number of open files of a process above which it counts as holding any number of bytes. Engines need less than 200. */
const MOST_DESCRIPTORS = 2000;

/** What a process keeps although no directory contains it. */
export interface Unlinked {
  /** Bytes of deleted files that it has open or mapped. */
  readonly disk: number;
  /** Bytes of mapped memory that processes can share. Not all of it counts as resident. */
  readonly memory: number;
}

/** Finds deleted files and shared memory of a process. Returns zeros if it has ended. */
export async function unlinkedUsage(pid: number): Promise<Unlinked> {
  const [open, mapped] = await Promise.all([openFiles(pid), mappings(pid)]);
  if (!open) return { disk: Number.POSITIVE_INFINITY, memory: 0 };
  const files = new Map(open);
  for (const [inode, bytes] of mapped.files) files.set(inode, Math.max(bytes, files.get(inode) ?? 0));
  return { disk: [...files.values()].reduce((sum, bytes) => sum + bytes, 0), memory: mapped.memory };
}

/** Returns the bytes of each deleted file by its inode, or `undefined` if too many files are open. */
async function openFiles(pid: number): Promise<Map<string, number> | undefined> {
  const files = new Map<string, number>();
  const descriptors = await readdir(`/proc/${pid}/fd`).catch(() => []);
  if (descriptors.length > MOST_DESCRIPTORS) return undefined;
  for (const descriptor of descriptors) {
    const stats = await stat(`/proc/${pid}/fd/${descriptor}`).catch(() => undefined);
    if (stats?.isFile() && stats.nlink === 0) files.set(String(stats.ino), BLOCK_BYTES * stats.blocks);
  }
  return files;
}

/** Reads the mappings of deleted files and shared memory; see proc_pid_maps(5). */
async function mappings(pid: number): Promise<{ files: Map<string, number>; memory: number }> {
  const text = await readFile(`/proc/${pid}/maps`, 'latin1').catch(() => '');
  const files = new Map<string, number>();
  let memory = 0;
  for (const line of text.matchAll(/^([0-9a-f]+)-([0-9a-f]+) \S+ \S+ \S+ (\d+) +(\S.*) \(deleted\)$/gm)) {
    const [, start = '0', end = '0', inode = '', name] = line;
    const bytes = Number.parseInt(end, 16) - Number.parseInt(start, 16);
    if (name === '/dev/zero') memory += bytes;
    else files.set(inode, (files.get(inode) ?? 0) + bytes);
  }
  return { files, memory };
}
