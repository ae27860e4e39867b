import { mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';

const inflate = promisify(zstdDecompress);

/** Name of the list of a layer's files that are stored as `<file>.zst`. Absent if there are none. */
export const COMPRESSED = 'compressed.json';

/** Files of a layer that are stored as `<path>.zst`. */
export interface CompressedFiles {
  /** Files that an engine needs to start. */
  readonly first: readonly CompressedFile[];
  /** Files that the first conversion needs. */
  readonly later: readonly CompressedFile[];
}

export interface CompressedFile {
  readonly path: string;
  readonly mode: number;
  /** Inflated size in bytes. */
  readonly bytes: number;
}

/** Folder of all layers, complete enough for engines to start. `whole` resolves when every file is there. */
interface InflatedLayers {
  readonly layers: string;
  readonly whole: Promise<void>;
}

/**
 * Recreates every layer below `into` as it was built: compressed files are inflated in parallel, everything else is linked.
 * A file gets its name only when it is complete, so a timeout leaves no partial files.
 */
export async function inflateLayers(layers: string, into: string): Promise<InflatedLayers> {
  const entries = await readdir(layers, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const rest = await Promise.all(names.map((name) => inflateLayer(join(layers, name), join(into, name))));
  const whole = Promise.all(rest.map((later) => later())).then(() => {});
  return { layers: into, whole };
}

/** Inflates the files that are needed first and returns a function that inflates the rest. */
async function inflateLayer(layer: string, into: string): Promise<() => Promise<void>> {
  await mkdir(into, { recursive: true });
  const list = await readFile(join(layer, COMPRESSED), 'utf8').catch(() => undefined);
  const { first, later } =
    list === undefined ? { first: [], later: [] } : (JSON.parse(list) as CompressedFiles);

  const folders = new Set([...first, ...later].flatMap(({ path }) => parents(path)));
  await link(layer, into, '', folders);
  const inflateAll = (files: readonly CompressedFile[]) =>
    Promise.all(
      files.map((file) => inflateFile(join(layer, `${file.path}.zst`), join(into, file.path), file)),
    );
  await inflateAll(first);
  // The caches of fonts are only valid for a folder with this time; see `layers/fonts/build.ts`.
  await Promise.all([...folders].map((folder) => utimes(join(into, folder), 0, 0)));
  return async () => {
    await inflateAll(later);
  };
}

/** Links a folder's entries. A folder with compressed files in it becomes a real folder. */
async function link(
  layer: string,
  into: string,
  folder: string,
  folders: ReadonlySet<string>,
): Promise<void> {
  const entries = await readdir(join(layer, folder), { withFileTypes: true });
  await Promise.all(
    entries.map(async ({ name }) => {
      const path = join(folder, name);
      if (!folders.has(path)) return symlink(join(layer, path), join(into, path)).catch(unlessThere);
      await mkdir(join(into, path), { recursive: true });
      await link(layer, into, path, folders);
    }),
  );
}

async function inflateFile(from: string, to: string, { mode, bytes }: CompressedFile): Promise<void> {
  // Makes the chunk large enough for the whole file: joining chunks of the default 16 KiB takes longer than
  // inflating.
  const content = await inflate(await readFile(from), { chunkSize: bytes + 64 });
  const incomplete = `${to}.${process.pid}`;
  await writeFile(incomplete, content, { mode });
  await rename(incomplete, to);
}

function parents(path: string): string[] {
  const parts = path.split('/');
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'));
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
