import { readFile } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import { readInput } from '../../../functions/engines/office/inputs.ts';
import { listSources } from '../sources.ts';
import { readWriter } from './layout.ts';

/** A document and the PDF that Microsoft Office made of it. */
export interface Pair {
  readonly document: string;
  readonly pdf: string;
}

/** Finds the pairs below a folder: PDFs that Office wrote, beside a document of the same name or in the same folder alone. */
export async function findPairs(folder: string): Promise<Pair[]> {
  const files = await listSources(folder, () => true);
  const documents = files.filter(
    (path) => readInput(extname(path)) !== undefined && !/\.(txt|html?|xml|csv)$/i.test(path),
  );
  const pairs: Pair[] = [];
  for (const pdf of files.filter((path) => extname(path).toLowerCase() === '.pdf')) {
    const document = partnerOf(pdf, documents);
    if (document !== undefined && (await isByOffice(pdf))) pairs.push({ document, pdf });
  }
  return pairs;
}

function partnerOf(pdf: string, documents: readonly string[]): string | undefined {
  const beside = documents.filter((path) => dirname(path) === dirname(pdf));
  const named = (paths: readonly string[]) => paths.filter((path) => stem(path) === stem(pdf));
  // Some projects keep documents and PDFs in two folders with the same names.
  const candidates = [named(beside), named(documents), beside].find(({ length }) => length > 0) ?? [];
  return candidates.length === 1 ? candidates[0] : undefined;
}

function stem(path: string): string {
  return basename(path, extname(path)).toLowerCase();
}

async function isByOffice(pdf: string): Promise<boolean> {
  const writer = await readWriter(await readFile(pdf)).catch(() => '');
  return /\b(Word|Excel|PowerPoint)\b/.test(writer);
}
