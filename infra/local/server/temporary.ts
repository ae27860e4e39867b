import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Makes the folder for everything that lives no longer than this process, below `parent`, and removes those of
 * processes that were killed before they could.
 */
export async function makeTemporary(parent: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const owner = /^docmill-(\d+)-\w{6}$/.exec(name)?.[1];
    // Another user's folder stays: it is not ours to remove.
    if (owner && !existsSync(`/proc/${owner}`)) {
      await rm(join(parent, name), { recursive: true, force: true }).catch(() => {});
    }
  }
  return mkdtemp(join(parent, `docmill-${process.pid}-`));
}
