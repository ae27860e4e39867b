import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';

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

/** Debian's library folder, the loader and its installed path, by Node's name of the architecture. */
const PLATFORM = {
  x64: {
    architecture: 'x64',
    triplet: 'x86_64-linux-gnu',
    loader: 'ld-linux-x86-64.so.2',
    interpreter: '/lib64/ld-linux-x86-64.so.2',
  },
  arm64: {
    architecture: 'arm64',
    triplet: 'aarch64-linux-gnu',
    loader: 'ld-linux-aarch64.so.1',
    interpreter: '/lib/ld-linux-aarch64.so.1',
  },
} as const;

/** Returns the library folder of unpacked packages and the name of the loader. */
export function platform() {
  const found = PLATFORM[process.arch as keyof typeof PLATFORM];
  if (!found) throw new Error(`Layers can be built for x64 and arm64, not for ${process.arch}.`);
  return found;
}

/** Milliseconds between two attempts to get a lock. */
const INTERVAL = 200;

/**
 * Runs `work` while this process holds the lock of this name. The lock is a socket in Linux's abstract namespace, which the kernel
 * gives to one process at a time and releases when that process ends, however it ends.
 */
export async function withLock<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const path = `\0docmill-${createHash('sha256').update(name).digest('hex')}`;
  let lock = await acquire(path);
  while (!lock) {
    await setTimeout(INTERVAL);
    lock = await acquire(path);
  }
  try {
    return await work();
  } finally {
    lock.close();
    await once(lock, 'close');
  }
}

async function acquire(path: string): Promise<Server | undefined> {
  const server = createServer((connection) => connection.destroy());
  try {
    await once(server.listen(path), 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}
