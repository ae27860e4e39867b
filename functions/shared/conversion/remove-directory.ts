import { readdirSync, rmSync, statSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes, and files, that are deleted in a few milliseconds. */
const QUICK = { bytes: 10_000_000, files: 50 };
/** What Node repeats if the kernel cannot do it now, for example because no file descriptor is free: about a minute. */
const REPEATED = { maxRetries: 10, retryDelay: 1000 };

/**
 * Deletes the directory of a conversion, if it still exists: at once if its files are few and small, which is five times as
 * fast, otherwise without blocking the event loop.
 */
export function removeDirectory(directory: string): void | Promise<void> {
  const options = { recursive: true, force: true };
  try {
    if (isQuick(directory)) return rmSync(directory, options);
  } catch {
    // Repeated below.
  }
  return rm(directory, { ...options, ...REPEATED });
}

function isQuick(directory: string): boolean {
  const names = readdirSync(directory);
  if (names.length > QUICK.files) return false;
  const bytes = names.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0);
  return bytes <= QUICK.bytes;
}
