import { constants } from 'node:fs';
import { chmod, open, opendir, rm } from 'node:fs/promises';

const OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 } as const;
/** A directory itself, without permission to read it. */
const DIRECTORY = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Directories inside each other. Each needs a file descriptor. */
const MOST_DEPTH = 100;

/**
 * Deletes a directory that an engine has written to, even if it contains directories that their owner may not
 * list or change. A process that was just killed may still be writing, so the removal is retried.
 */
export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, OPTIONS);
  } catch (thrown) {
    if (!['EACCES', 'EPERM'].includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown;
    await openDirectories(directory, 0);
    await rm(directory, OPTIONS);
  }
}

/** Lets the owner list and change a directory and all below it. An engine could replace them by links meanwhile. */
async function openDirectories(directory: string, depth: number): Promise<void> {
  const handle = await open(directory, DIRECTORY).catch(() => undefined);
  if (!handle || depth > MOST_DEPTH) return handle?.close();
  try {
    const path = `/proc/self/fd/${handle.fd}`;
    await chmod(path, 0o700);
    for await (const entry of await opendir(path)) {
      if (entry.isDirectory()) await openDirectories(`${path}/${entry.name}`, depth + 1);
    }
  } catch {
    // The removal fails with the same reason.
  } finally {
    await handle.close();
  }
}
