import { readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** Returns the files of a folder that `accepts` returns true for, in order. */
export async function listSources(folder: string, accepts: (path: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(accepts)
    .sort();
}

/** Returns at most `limit` sources, spread evenly over all. */
export function spread(sources: readonly string[], limit: number): string[] {
  const step = Math.max(1, Math.ceil(sources.length / limit));
  return sources.filter((_, index) => index % step === 0);
}
