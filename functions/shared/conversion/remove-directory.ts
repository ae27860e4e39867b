import { lstatSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes, and files, that are deleted in a few milliseconds. */
const QUICK = { bytes: 10_000_000, files: 50 };
/** Retries transient errors, such as having no free file descriptor, for about a minute. */
const REPEATED = { maxRetries: 10, retryDelay: 1000 };

/**
 * Deletes the directory of a conversion, if it still exists: at once if its files are few and small, which is five times as
 * fast, otherwise without blocking the event loop.
 */
export function removeDirectory(directory: string): void | Promise<void> {
  const options = { recursive: true, force: true };
  try {
    if (quickFiles(directory)) return rmSync(directory, options);
  } catch {
    // Repeated below.
  }
  return rm(directory, { ...options, ...REPEATED });
}

/** Deletes the files of a directory if they are few and small. Returns whether the directory is empty now. */
export function emptyDirectory(directory: string): boolean {
  try {
    const files = quickFiles(directory);
    for (const file of files ?? []) unlinkSync(file);
    return files !== undefined;
  } catch {
    // It contains a directory, for example.
    return false;
  }
}

/** Returns the paths in a directory, or `undefined` if deleting them takes longer. */
function quickFiles(directory: string): string[] | undefined {
  const names = readdirSync(directory);
  if (names.length > QUICK.files) return undefined;
  const paths = names.map((name) => join(directory, name));
  const bytes = paths.reduce((sum, path) => sum + lstatSync(path).size, 0);
  return bytes <= QUICK.bytes ? paths : undefined;
}
