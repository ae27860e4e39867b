import { existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Creates a private directory and its missing parents. Does not use Node's recursive `mkdirSync`, which never returns
 * for a path in `/proc`, where a new directory is ENOENT although its parent exists.
 * @throws Error of the file system.
 */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let parent = path; !existsSync(parent); parent = dirname(parent)) missing.unshift(parent);
  for (const directory of missing) {
    try {
      mkdirSync(directory, { mode: 0o700 });
    } catch (thrown) {
      // Another process may have created it.
      if (!existsSync(directory)) throw thrown;
    }
  }
  // Throws if the path is a file.
  mkdirSync(path, { recursive: true });
}
