import { opendir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { INPUTS } from '../../functions/engines/office/inputs.ts';

/** How a kind of file is converted. */
export interface Case {
  readonly app: string;
  readonly outfile: string;
}

const IMAGE = [{ app: 'imageproc', outfile: 'image.jpg' }];
const PAGE = [
  { app: 'html2pdf', outfile: 'page.pdf' },
  { app: 'html2image', outfile: 'page.png' },
];
const OFFICE = [{ app: 'doc2any', outfile: 'document.pdf' }];

const CASES: Readonly<Record<string, readonly Case[]>> = {
  pdf: [{ app: 'pdftools', outfile: 'page.png' }],
  ...Object.fromEntries(['html', 'htm'].map((extension) => [extension, PAGE])),
  ...Object.fromEntries(
    ['png', 'jpg', 'jpeg', 'webp', 'gif', 'tif', 'tiff', 'svg', 'avif'].map((extension) => [
      extension,
      IMAGE,
    ]),
  ),
  ...Object.fromEntries(
    Object.keys(INPUTS)
      .filter((extension) => !['html', 'htm', 'xml', 'txt'].includes(extension))
      .map((extension) => [extension, OFFICE]),
  ),
};

/** Returns the conversions for a file, by its extension. None for unsupported kinds. */
export function casesOf(path: string): readonly Case[] {
  const extension = /\.([a-z0-9]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '';
  return Object.hasOwn(CASES, extension) ? CASES[extension]! : [];
}

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

/** The expected outcome for a file. `unknown` if no manifest specifies it. */
export type Expectation = 'converts' | 'error' | 'slow' | 'unknown';

/** Name of the file that specifies the expected outcome of each other file in the folder. It is not a source itself. */
const MANIFEST = 'manifest.tsv';

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
