import { lstatSync, readdirSync, rmSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Upper bounds for a synchronous delete (a few milliseconds). */
const SYNC_LIMITS = { bytes: 10_000_000, files: 50 };
/** Retries transient errors, such as EMFILE, for about a minute. */
const REPEATED = { maxRetries: 10, retryDelay: 1000 };

/**
 * Deletes the directory of a conversion, if it still exists. A few small files are deleted synchronously, which is
 * five times as fast. Otherwise the event loop is not blocked.
 */
export function removeDirectory(directory: string): void | Promise<void> {
  const options = { recursive: true, force: true };
  try {
    if (quickFiles(directory)) return rmSync(directory, options);
  } catch {
    // Retried below.
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
    // It may contain a directory.
    return false;
  }
}

/** Returns the paths in a directory, or `undefined` if deleting them would take longer. */
function quickFiles(directory: string): string[] | undefined {
  const names = readdirSync(directory);
  if (names.length > SYNC_LIMITS.files) return undefined;
  const paths = names.map((name) => join(directory, name));
  const bytes = paths.reduce((sum, path) => sum + lstatSync(path).size, 0);
  return bytes <= SYNC_LIMITS.bytes ? paths : undefined;
}
