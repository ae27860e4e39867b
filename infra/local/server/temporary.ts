import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Creates a folder below `parent` for files that this process deletes when it exits, and removes the folders of processes
 * that were killed.
 */
export async function makeTemporary(parent: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const owner = /^docmill-(\d+)-\w{6}$/.exec(name)?.[1];
    // Fails for another user's folder, which stays.
    if (owner && !existsSync(`/proc/${owner}`)) {
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
    }
  }
  return mkdtemp(join(parent, `docmill-${process.pid}-`));
}
