import { lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Creates a directory with a random name in `parent`. Recreates `parent` if it was deleted, for example by a program
 * that cleans up /tmp. Throws if `parent` belongs to another user.
 */
export function makePrivateDirectory(parent: string, prefix: string): string {
  const stats = lstatSync(parent, { throwIfNoEntry: false });
  if (!stats) mkdirSync(parent, { recursive: true, mode: 0o700 });
  else if (!stats.isDirectory() || stats.uid !== process.getuid?.()) {
    throw new Error(`${parent} is not a directory of this user.`);
  }
  return mkdtempSync(join(parent, prefix));
}
