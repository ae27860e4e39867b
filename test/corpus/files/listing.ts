import { opendir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { casesOf } from './kinds.ts';
import { MANIFEST } from './manifest.ts';

export interface CorpusFile {
  /** Path below the folder, with slashes. */
  readonly name: string;
  readonly path: string;
  /** Changes with the file's content, in practice. */
  readonly version: string;
}

/** Yields the supported files of a folder one by one, regardless of their number. */
export async function* listFiles(folder: string, below = folder): AsyncGenerator<CorpusFile> {
  for await (const entry of await opendir(below)) {
    const path = join(below, entry.name);
    const name = relative(folder, path).split(sep).join('/');
    if (entry.isDirectory()) yield* listFiles(folder, path);
    if (!entry.isFile() || casesOf(entry.name).length === 0 || name === MANIFEST) continue;
    const { size, mtimeMs } = await stat(path);
    yield {
      name,
      path,
      version: `${size}-${Math.round(mtimeMs)}`,
    };
  }
}

/** Counts the conversions for a folder. */
export async function countCases(folder: string): Promise<number> {
  let count = 0;
  for await (const { name } of listFiles(folder)) count += casesOf(name).length;
  return count;
}
