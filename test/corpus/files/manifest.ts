import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** The expected outcome for a file. `unknown` if no manifest specifies it. */
export type Expectation = 'converts' | 'error' | 'slow' | 'unknown';

/** Name of the file that specifies the expected outcome of each other file in the folder. It is not a source itself. */
export const MANIFEST = 'manifest.tsv';

/** Labels that are wrong, with the evidence. */
const CORRECTIONS: Readonly<Record<string, Expectation>> = {
  // Its form and its pattern draw each other. It was labeled with engines that never finish it, but native PDFium and
  // poppler 22.12 end the cycle and draw the page in less than 0.2 s.
  'pdf/operator_list_cycle.pdf': 'converts',
};

/** Reads `manifest.tsv` of a folder, by file name. Empty if there is none. */
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
        throw new Error(`manifest.tsv has an invalid row: ${row}`);
      return [name, CORRECTIONS[name] ?? (expect as Expectation)];
    }),
  );
}
