import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, open, opendir, rename, rm } from 'node:fs/promises';

const OPTIONS = { recursive: true, force: true, maxRetries: 5, retryDelay: 20 } as const;
/** Opens a directory as a path handle (O_PATH), which needs no read permission. */
const DIRECTORY = 0o10000000 | constants.O_DIRECTORY | constants.O_NOFOLLOW;
/** Errors caused by directory modes or overlong paths, which `flatten` removes. */
const OBSTACLES = ['EACCES', 'EPERM', 'ENAMETOOLONG'];

/**
 * Deletes a directory that an engine has written to, even if it contains directories that their owner may not list or
 * change, or that are nested too deeply for a path. Retries, because a process that was just killed may still be
 * writing.
 */
export async function removeTree(directory: string): Promise<void> {
  try {
    await rm(directory, OPTIONS);
  } catch (thrown) {
    if (!OBSTACLES.includes((thrown as NodeJS.ErrnoException).code ?? '')) throw thrown;
    await flatten(directory);
    await rm(directory, OPTIONS);
  }
}

/**
 * Lets the owner list and change all directories, and moves them to the top level. An engine could replace them with
 * links meanwhile.
 */
async function flatten(directory: string): Promise<void> {
  await withOpened(directory, async (root) => {
    const prefix = randomUUID();
    let moved = 0;
    const pending = await directoriesIn(root);
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      await withOpened(`${root}/${next}`, async (parent) => {
        for (const name of await directoriesIn(parent)) {
          const top = `${prefix}-${moved++}`;
          // A directory cannot be moved unless its owner may change it.
          await withOpened(`${parent}/${name}`, async () => {});
          await rename(`${parent}/${name}`, `${root}/${top}`);
          pending.push(top);
        }
      });
    }
  });
}

async function directoriesIn(path: string): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of await opendir(path)) if (entry.isDirectory()) names.push(entry.name);
  return names;
}

/** Lets the owner list and change a directory, and calls `work` with a path that stays the same directory. */
async function withOpened(directory: string, work: (path: string) => Promise<void>): Promise<void> {
  const handle = await open(directory, DIRECTORY).catch(() => undefined);
  if (!handle) return;
  try {
    const path = `/proc/self/fd/${handle.fd}`;
    await chmod(path, 0o700);
    await work(path);
  } catch {
    // The removal will fail for the same reason.
  } finally {
    await handle.close();
  }
}
