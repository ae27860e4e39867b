import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { withLock } from './lock.ts';

/** How every layer is built: into this folder, telling what it does. */
export interface BuildOptions {
  readonly into: string;
  progress(text: string): void;
}

/** Downloads of all layers live beside their products, so that a second build needs no network. */
export const cacheOf = (into: string): string => join(dirname(dirname(into)), 'cache');

/** Reads every file in a folder of a layer's sources, so that a change to any of them builds the layer again. */
export async function recipeOf(folder: string): Promise<object> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
  return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
}

/**
 * Fills `into` by `make` unless it was filled by the same recipe before: work happens in a sibling that is renamed
 * when complete, so half a layer is never taken for whole.
 */
export async function buildOnce(
  { into, progress }: BuildOptions,
  recipe: object,
  make: (directory: string) => Promise<void>,
): Promise<void> {
  const stamp = createHash('sha256').update(JSON.stringify(recipe)).digest('hex');
  const isBuilt = async () => (await readFile(join(into, '.recipe'), 'utf8').catch(() => '')) === stamp;
  if (await isBuilt()) return;

  await mkdir(dirname(into), { recursive: true });
  await withLock(`${into}.lock`, async () => {
    // Another process may have built it while this one waited.
    if (await isBuilt()) return;
    const directory = `${into}.building`;
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory);
    await make(directory);
    await writeFile(join(directory, '.recipe'), stamp);
    await rm(into, { recursive: true, force: true });
    await rename(directory, into);
    progress(`Built ${basename(into)}`);
  });
}
