import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { withLock } from './lock.ts';

/** Options of every build. */
export interface BuildOptions {
  readonly into: string;
  progress(text: string): void;
}

/** Returns the download folder of all layers. It is kept, so that a second build needs no network. */
export const cacheOf = (into: string): string => join(dirname(dirname(into)), 'cache');

/** Marks layers as out of date and deletes the package lists, so that the next build takes the newest packages. */
export async function discardProducts(products: string, names: readonly string[]): Promise<void> {
  for (const name of names) await rm(join(products, name, '.recipe'), { force: true });
  const lists = join(cacheOf(join(products, 'any')), 'apt');
  const roots = await readdir(lists).catch(() => []);
  for (const root of roots) await rm(join(lists, root, 'fetched'), { force: true });
}

/** Reads every source file of a layer, so that a change to any of them rebuilds the layer. */
export async function recipeOf(folder: string): Promise<object> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
    .sort();
  return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8')]));
}

/**
 * Builds `into` with `make` unless its recipe hash is unchanged. The work happens in a temporary folder that
 * is renamed when it is complete, so an interrupted build never looks finished.
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
    progress('done');
  });
}
