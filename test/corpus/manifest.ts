import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What is expected of a file; `unknown` where no manifest says. */
export type Expectation = 'converts' | 'error' | 'slow' | 'unknown';

/** Name of the file in a folder that says how each other file should end. It is no source itself. */
export const MANIFEST = 'manifest.tsv';

/** Reads `manifest.tsv` of a folder, by the names of the files; empty where there is none. */
export async function readManifest(folder: string): Promise<ReadonlyMap<string, Expectation>> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  const rows = text.split(/\r?\n/).slice(1).filter(Boolean);
  return new Map(
    rows.map((row) => {
      const [name, expect] = row.split('\t');
      if (!name || !/^(converts|error|slow)$/.test(expect ?? ''))
        throw new Error(`manifest.tsv has a row we cannot read: ${row}`);
      return [name, expect as Expectation];
    }),
  );
}
