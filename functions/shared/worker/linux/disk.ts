import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Number of files and directories above which a directory counts as full, regardless of their size. */
const MOST_FILES = 100_000;
const BLOCK_BYTES = 512;

/** Returns the bytes that a directory takes on disk, without holes. Infinity if it has more than 100,000 files. */
export async function diskUsage(directory: string): Promise<number> {
  const directories = [directory];
  let bytes = 0;
  let files = 0;
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    const parent = next;
    // Files that are deleted in the meantime take nothing.
    const entries = await readdir(parent, { withFileTypes: true }).catch(() => []);
    files += entries.length;
    if (files > MOST_FILES) return Number.POSITIVE_INFINITY;
    for (const entry of entries) {
      const path = join(parent, entry.name);
      if (entry.isDirectory()) directories.push(path);
      const stats = await lstat(path).catch(() => undefined);
      bytes += BLOCK_BYTES * (stats?.blocks ?? 0);
    }
  }
  return bytes;
}
