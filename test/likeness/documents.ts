import { mkdtemp, writeFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { createEngine } from '../../functions/doc2any/convert.ts';
import { doc2any } from '../../functions/doc2any/tool.ts';
import { exportOptions, FILTERS, saveOptions } from '../../functions/engines/office/filter-options.ts';
import { INPUTS, readInput } from '../../functions/engines/office/inputs.ts';
import { EDITABLE, type Editable } from '../../functions/engines/office/outputs.ts';
import type { Format } from '../../functions/shared/formats.ts';
import { readOptions } from '../../functions/shared/options/read-options.ts';
import type { OptionsOf } from '../../functions/shared/tool.ts';
import { drawPage, readPdf } from '../helpers/pdf.ts';
import { difference } from '../helpers/pixels.ts';
import { parametersOf, type StartedEngine, startEngine } from '../lab/engine.ts';
import { type CompleteOffice, startCompleteOffice } from '../soffice/convert.ts';
import { inTurn, listSources, reportLikeness, spread, verdictOf } from './comparison.ts';

/** PDF output with options that both sides support. The first is tried with every document, the others in turn. */
const OPTION_SETS = [
  '',
  '--pdf-version=2.0',
  '--pdf-version=PDF/A-2b',
  '--pdf-version=PDF/UA',
  '--tagged',
  '--quality=30',
  '--lossless',
  '--image-dpi=75',
  '--comments',
  '--notes',
  '--hidden-slides',
  '--no-bookmarks',
  '--forms',
  '--fit=sheet',
  '--watermark=DRAFT',
] as const;

/** Formats other than PDF, tried with documents of their kind. */
const FORMATS = Object.keys(EDITABLE) as Editable[];

/** Number of documents that each option except the defaults is compared with, in turn. */
const DOCUMENTS_PER_OPTION = 4;
/** Maximum number of documents that an option is tried with, because neither side converts some, such as damaged ones. */
const TRIES_PER_OPTION = 16;
const DOCUMENTS_PER_FORMAT = 3;

interface Trial {
  /** Options or format. */
  readonly label: string;
  readonly name: string;
  readonly verdict: Verdict;
}

/** Compares the conversion of a folder's documents with that of soffice in the same version, and returns the exit code. */
export async function run(
  folder: string,
  { write, limit, only }: { write: boolean; limit: number; only: string },
): Promise<number> {
  const isSource = (path: string) => readInput(extname(path)) !== undefined && path.includes(only);
  const sources = spread(await listSources(folder, isSource), limit);
  const engine = await startEngine(doc2any, createEngine, { size: 1 });
  const office = await startCompleteOffice();
  const trials = await compareAll({ engine, office }, sources);
  await Promise.all([engine.close(), office.close()]);
  return report(trials, sources.length, write);
}

async function compareAll(sides: Sides, sources: readonly string[]): Promise<Trial[]> {
  const trials: Trial[] = [];
  const add = (label: string, path: string, verdict: Verdict) => {
    trials.push({ label, name: basename(path), verdict });
    if (verdict !== 'same' && verdict !== 'neither') console.log(`${verdict}  ${label}  ${basename(path)}`);
  };
  const compareSome = inTurn(sources);
  for (const [index, options] of OPTION_SETS.entries()) {
    const all = { wanted: sources.length, maxTries: sources.length };
    const some = { wanted: DOCUMENTS_PER_OPTION, maxTries: TRIES_PER_OPTION };
    await compareSome(index === 0 ? all : some, async (source) => {
      const verdict = await comparePdf(sides, source, options);
      add(label(options), source, verdict);
      return verdict !== 'neither';
    });
  }
  for (const format of FORMATS) {
    const fitting = sources.filter((path) => INPUTS[readInput(extname(path))!] === EDITABLE[format]);
    await inTurn(fitting)({ wanted: DOCUMENTS_PER_FORMAT, maxTries: TRIES_PER_OPTION }, async (source) => {
      const verdict = await compareFormat(sides, source, format);
      add(`.${format}`, source, verdict);
      return verdict !== 'neither';
    });
  }
  return trials;
}

const label = (options: string) => (options === '' ? 'defaults' : options);

function report(trials: readonly Trial[], documents: number, write: boolean): number {
  const labels = [...OPTION_SETS.map(label), ...FORMATS.map((format) => `.${format}`)];
  const rows = labels.map((each) => {
    const own = trials.filter((trial) => trial.label === each && trial.verdict !== 'neither');
    const counts = Object.entries(Object.groupBy(own, ({ verdict }) => verdict)).map(
      ([verdict, { length }]) => [verdict, length] as const,
    );
    const unlike = counts.filter(([verdict]) => verdict !== 'same');
    return {
      name: `\`${each}\``,
      ...verdictOf(unlike.length, own.length),
      measured: unlike.map(([verdict, count]) => `${verdict} ${count} of ${own.length}`).join(', '),
      documents: own.length,
      ...Object.fromEntries(counts),
    };
  });
  reportLikeness('doc2any', { run: `${documents} documents`, rows }, write);
  return trials.some(({ verdict }) => verdict === 'only soffice') ? 1 : 0;
}

/** Mean difference of the channels, 0 to 255, above which two pages do not look alike. */
const UNLIKE = 1;
/** Pages of each document whose look is compared. */
const PAGES = 3;

type Verdict = 'same' | `other ${'page count' | 'text' | 'look'}` | `only ${'ours' | 'soffice'}` | 'neither';

type Options = OptionsOf<typeof doc2any>;

/** The two programs, and a folder for the files of both. */
export interface Sides {
  readonly engine: StartedEngine;
  readonly office: CompleteOffice;
}

/** Converts a document to PDF on both sides with the same options, and compares the results. */
export async function comparePdf(sides: Sides, path: string, options: string): Promise<Verdict> {
  const typed = read(options, 'pdf');
  const [ours, theirs] = await Promise.all([
    convertHere(sides, path, options, 'pdf'),
    sides.office.convert(path, exportOptions(typed, undefined)),
  ]);
  return ours && theirs ? judge(ours, theirs) : missing(ours, theirs);
}

/** Converts a document to another format on both sides, and compares what the complete LibreOffice makes of the results. */
export async function compareFormat(sides: Sides, path: string, format: Editable): Promise<Verdict> {
  const typed = read('', format);
  const target = [format, FILTERS[format], saveOptions(format, typed)].join(':').replace(/:$/, '');
  const [ours, theirs] = await Promise.all([
    convertHere(sides, path, '', format),
    sides.office.convertTo(path, target),
  ]);
  if (!ours || !theirs) return missing(ours, theirs);
  if (format === 'csv' || format === 'txt') return ours.equals(theirs) ? 'same' : 'other text';
  const [one, other] = [await reopen(sides, ours, format), await reopen(sides, theirs, format)];
  return one && other ? judge(one, other) : missing(one, other);
}

function read(text: string, format: Format): Options {
  return readOptions(doc2any, parametersOf(text), format).options as Options;
}

function missing(ours: Buffer | undefined, theirs: Buffer | undefined): Verdict {
  if (ours) return 'only ours';
  return theirs ? 'only soffice' : 'neither';
}

async function reopen({ engine: { temporary }, office }: Sides, bytes: Buffer, format: Editable) {
  const folder = await mkdtemp(join(temporary, 'reopened-'));
  const path = join(folder, `document.${format}`);
  await writeFile(path, bytes);
  return office.convert(path);
}

/** Converts a document here. Returns `undefined` if it fails. */
export async function convertHere(
  { engine }: Pick<Sides, 'engine'>,
  path: string,
  options: string,
  format: Format,
): Promise<Buffer | undefined> {
  const asked = { options, format, time: 60_000 };
  return engine.convert(path, asked).then(
    ({ files }) => files[0],
    () => undefined,
  );
}

/** Returns in what two PDFs differ first: page count, text, or the size or look of a page. */
export async function judge(ours: Buffer, theirs: Buffer): Promise<Verdict> {
  const [one, other] = await Promise.all([readPdf(ours), readPdf(theirs)]);
  if (one.pages.length !== other.pages.length) return 'other page count';
  // White space depends on gaps that the reader takes for spaces, and some documents show the time of their conversion.
  const unstable = /\d?\d:\d\d:\d\d|\s/g;
  const texts = [one, other].map(({ pages }) =>
    pages.map(({ text }) => text.replace(unstable, '')).join('\f'),
  );
  if (texts[0] !== texts[1]) return 'other text';
  const isAsLarge = one.pages.every(({ width, height }, index) => {
    const page = other.pages[index]!;
    return Math.abs(width - page.width) < 1 && Math.abs(height - page.height) < 1;
  });
  if (!isAsLarge) return 'other look';
  for (let page = 1; page <= Math.min(PAGES, one.pages.length); page++) {
    const [left, right] = await Promise.all([drawPage(ours, page), drawPage(theirs, page)]);
    if ((await difference(left, right)) > UNLIKE) return 'other look';
  }
  return 'same';
}
