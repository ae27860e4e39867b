import { readdirSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that are deleted in a millisecond. */
const QUICK = 10_000_000;

/**
 * Deletes the directory of a conversion: at once if its files are small, which is five times as fast, otherwise without
 * blocking the event loop.
 */
export function removeDirectory(directory: string): void | Promise<void> {
  const options = { recursive: true, force: true };
  if (sizeOf(directory) > QUICK) return rm(directory, options);
  rmSync(directory, options);
}

function sizeOf(directory: string): number {
  const sizes = readdirSync(directory).map(
    (name) => statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
