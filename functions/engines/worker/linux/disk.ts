import { lstatSync, opendirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

/** Maximum number of files and directories. A directory with more counts as full, whatever their size. */
const MAX_FILES = 20_000;
/**
 * Number of files after which other work gets its turn. They are read in this thread, which costs less than passing
 * each to another.
 */
const SLICE = 256;
const BLOCK_BYTES = 512;

/**
 * Returns the bytes that a directory takes on disk, without holes. Infinity if it has more than 20,000 files, or if a
 * directory in it cannot be listed.
 */
export async function diskUsage(directory: string): Promise<number> {
  const directories = [directory];
  let bytes = 0;
  let files = 0;
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    const parent = next;
    try {
      // Not all names at once, because there can be any number of them.
      using opened = opendirSync(parent, { bufferSize: SLICE });
      for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
        files += 1;
        if (files > MAX_FILES) return Number.POSITIVE_INFINITY;
        if (files % SLICE === 0) await setImmediate();
        const path = join(parent, entry.name);
        if (entry.isDirectory()) directories.push(path);
        bytes += BLOCK_BYTES * (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0);
      }
    } catch (thrown) {
      // A file that was deleted in the meantime takes no space, and there may be no free file descriptor. A directory
      // that its owner cannot list, or that is nested too deeply for a path, hides files.
      if (['EACCES', 'ENAMETOOLONG'].includes((thrown as NodeJS.ErrnoException).code ?? ''))
        return Number.POSITIVE_INFINITY;
    }
  }
  return bytes;
}
