import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';

const inflate = promisify(zstdDecompress);

/** Written beside a layer's files when some of them are kept as `<file>.zst`. */
export const FOLDED = 'folded.json';

/** Files of a layer, by path, that lie there as `<path>.zst`. */
export interface Folded {
  /** Needed before an engine can start. */
  readonly first: readonly FoldedFile[];
  /** Needed before the first conversion. */
  readonly later: readonly FoldedFile[];
}

export interface FoldedFile {
  readonly path: string;
  readonly mode: number;
  /** Inflated. */
  readonly bytes: number;
}

/** Folder of all layers, whole enough for engines to start; `whole` resolves when nothing is missing any more. */
export interface Unfolded {
  readonly layers: string;
  readonly whole: Promise<void>;
}

/**
 * Makes every layer below `into` look as it was built: what is folded is inflated, several files at once, everything else
 * a link. A file appears under its name only when it is complete, so a time-out in the middle leaves nothing broken.
 */
export async function unfoldLayers(layers: string, into: string): Promise<Unfolded> {
  const entries = await readdir(layers, { withFileTypes: true }).catch(() => []);
  const names = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const rest = await Promise.all(names.map((name) => unfoldLayer(join(layers, name), join(into, name))));
  const whole = Promise.all(rest.map((later) => later())).then(() => {});
  return { layers: into, whole };
}

/** Unfolds what is needed first and answers what does the rest. */
async function unfoldLayer(layer: string, into: string): Promise<() => Promise<void>> {
  await mkdir(into, { recursive: true });
  const list = await readFile(join(layer, FOLDED), 'utf8').catch(() => undefined);
  const { first, later } = list === undefined ? { first: [], later: [] } : (JSON.parse(list) as Folded);

  const folders = new Set([...first, ...later].flatMap(({ path }) => parents(path)));
  await link(layer, into, '', folders);
  const inflateAll = (files: readonly FoldedFile[]) =>
    Promise.all(
      files.map((file) => inflateFile(join(layer, `${file.path}.zst`), join(into, file.path), file)),
    );
  await inflateAll(first);
  return async () => {
    await inflateAll(later);
  };
}

/** Links a folder's entries; a folder with something folded in it becomes a folder of its own. */
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

async function inflateFile(from: string, to: string, { mode, bytes }: FoldedFile): Promise<void> {
  // In one piece, with room to spare: joining pieces of the usual 16 KiB takes longer than inflating them.
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
