import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { exportOptions, FILTERS, saveOptions } from '../../../functions/engines/office/filter-options.ts';
import type { Editable } from '../../../functions/engines/office/outputs.ts';
import type { Format } from '../../../functions/shared/formats.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { drawPage, readPdf } from '../../helpers/pdf.ts';
import { difference } from '../../helpers/pixels.ts';
import type { CompleteOffice } from '../../soffice/convert.ts';

/** Mean difference of the channels, 0 to 255, above which two pages do not look alike. */
const UNLIKE = 1;
/** Pages of each document whose look is compared. */
const PAGES = 3;

export const VERDICTS = ['same', 'pages', 'text', 'look', 'only ours', 'only soffice', 'neither'] as const;
export type Verdict = (typeof VERDICTS)[number];

type Engine = ReturnType<typeof createEngine>;
type Options = Parameters<Engine['convert']>[0]['options'];

/** The two programs, and a folder for the files of both. */
export interface Sides {
  readonly engine: Engine;
  readonly office: CompleteOffice;
  readonly temporary: string;
}

/** Converts a document to PDF on both sides with the same options, and compares the results. */
export async function comparePdf(sides: Sides, path: string, options: string): Promise<Verdict> {
  const typed = read(options, 'pdf');
  const [ours, theirs] = await Promise.all([
    convertHere(sides, path, typed, 'pdf'),
    sides.office.convert(path, exportOptions(typed, undefined)),
  ]);
  return ours && theirs ? judge(ours, theirs) : missing(ours, theirs);
}

/** Converts a document to another format on both sides, and compares what the complete LibreOffice makes of the results. */
export async function compareFormat(sides: Sides, path: string, format: Editable): Promise<Verdict> {
  const typed = read('', format);
  const target = [format, FILTERS[format], saveOptions(format, typed)].join(':').replace(/:$/, '');
  const [ours, theirs] = await Promise.all([
    convertHere(sides, path, typed, format),
    sides.office.convertTo(path, target),
  ]);
  if (!ours || !theirs) return missing(ours, theirs);
  if (format === 'csv' || format === 'txt') return ours.equals(theirs) ? 'same' : 'text';
  const [one, other] = [await reopen(sides, ours, format), await reopen(sides, theirs, format)];
  return one && other ? judge(one, other) : missing(one, other);
}

/** Returns the options of a conversion to PDF without any. */
export function readPdfOptions(): Options {
  return read('', 'pdf');
}

function read(text: string, format: Format): Options {
  const [name = '', value = ''] = text.split('=');
  return readOptions(doc2any, text === '' ? [] : [{ name, value }], format).options as Options;
}

function missing(ours: Buffer | undefined, theirs: Buffer | undefined): Verdict {
  if (ours) return 'only ours';
  return theirs ? 'only soffice' : 'neither';
}

async function reopen({ office, temporary }: Sides, bytes: Buffer, format: Editable) {
  const folder = await mkdtemp(join(temporary, 'reopened-'));
  const path = join(folder, `document.${format}`);
  await writeFile(path, bytes);
  return office.convert(path);
}

/** Converts a document here. Returns `undefined` if it fails. */
export async function convertHere(
  { engine, temporary }: Pick<Sides, 'engine' | 'temporary'>,
  path: string,
  options: Options,
  format: Format,
) {
  const directory = await mkdtemp(join(temporary, 'conversion-'));
  const bytes = await readFile(path);
  const copy = join(directory, 'source');
  await writeFile(copy, bytes);
  try {
    const { outputs } = await engine.convert({
      source: { path: copy, name: basename(path), contentType: '', bytes: bytes.length },
      options,
      format,
      delivery: 'one',
      directory,
      limits: CONVERSION_LIMITS,
      signal: AbortSignal.timeout(60_000),
      account: 'likeness',
    });
    for await (const output of outputs) return await readFile(output.path);
    return undefined;
  } catch {
    return undefined;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Returns in what two PDFs differ first: page count, text, or the size or look of a page. */
export async function judge(ours: Buffer, theirs: Buffer): Promise<Verdict> {
  const [one, other] = await Promise.all([readPdf(ours), readPdf(theirs)]);
  if (one.pages.length !== other.pages.length) return 'pages';
  // White space depends on gaps that the reader takes for spaces, and some documents show the time of their conversion.
  const unstable = /\d?\d:\d\d:\d\d|\s/g;
  const texts = [one, other].map(({ pages }) =>
    pages.map(({ text }) => text.replace(unstable, '')).join('\f'),
  );
  if (texts[0] !== texts[1]) return 'text';
  const isAsLarge = one.pages.every(({ width, height }, index) => {
    const page = other.pages[index]!;
    return Math.abs(width - page.width) < 1 && Math.abs(height - page.height) < 1;
  });
  if (!isAsLarge) return 'look';
  for (let page = 1; page <= Math.min(PAGES, one.pages.length); page++) {
    const [left, right] = await Promise.all([drawPage(ours, page), drawPage(theirs, page)]);
    if ((await difference(left, right)) > UNLIKE) return 'look';
  }
  return 'same';
}
