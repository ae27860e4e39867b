import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { blankPdf } from '../../functions/engines/pdf/rewrite.ts';
import { createEngine } from '../../functions/pdftools/convert.ts';
import { pdftools } from '../../functions/pdftools/tool.ts';
import type { Download } from '../../functions/shared/tool.ts';
import { startEngine } from '../lab/engine.ts';
import { inTurn, listSources, reportLikeness, spread, verdictOf } from './comparison.ts';

/** An option set of pdftools and the equivalent arguments of pdftoppm. */
interface PdfCase {
  readonly options: string;
  readonly theirs: readonly string[];
  /** Kind of result. The default is pages as images. Text is compared with pdftotext, PDFs as pdftoppm draws both. */
  readonly format?: 'txt' | 'pdf';
  /** pdftoppm shows media boxes unless told otherwise, pdftools crop boxes. */
  readonly mediaBox?: boolean;
  /** Why results differ from pdftoppm's. */
  readonly reason?: string;
}

const SHAPES = 'PDFium and poppler smooth edges, scale images and substitute fonts differently';

const AXES = 'small letters differ, pdftoppm swaps the axes of rotated pages, and rounds sizes up';

/** Option sets. `blank.pdf` is an empty page. Each is tried with several documents, and the first, page 1 at 72 DPI, with all of them. */
export const PDF_CASES: readonly PdfCase[] = [
  { options: '-r=72', theirs: ['-r', '72'], reason: SHAPES },
  { options: '', theirs: [], reason: SHAPES },
  { options: '-r=100.5', theirs: ['-r', '100.5'] },
  { options: '-rx=50 -ry=100', theirs: ['-rx', '50', '-ry', '100'], reason: AXES },
  { options: '-scale-to=400', theirs: ['-scale-to', '400'], reason: SHAPES },
  {
    options: '-scale-to-x=300 -scale-to-y=-1',
    theirs: ['-scale-to-x', '300', '-scale-to-y', '-1'],
    reason: AXES,
  },
  {
    options: '-scale-to-x=-1 -scale-to-y=300',
    theirs: ['-scale-to-x', '-1', '-scale-to-y', '300'],
    reason: AXES,
  },
  { options: '-width=300 -height=300', reason: SHAPES, theirs: ['-scale-to-x', '300', '-scale-to-y', '300'] },
  {
    options: '-r=72 -x=20 -y=30 -W=200 -H=100',
    theirs: ['-r', '72', '-x', '20', '-y', '30', '-W', '200', '-H', '100'],
    reason: SHAPES,
  },
  { options: '-r=72 -gray', theirs: ['-r', '72', '-gray'] },
  {
    options: '-r=72 -mono',
    theirs: ['-r', '72', '-mono'],
    reason: 'grays are diffused, where poppler uses a pattern of dots',
  },
  { options: '-r=72 -cropbox=0', theirs: ['-r', '72'], mediaBox: true },
  { options: '-r=72 -hide-annotations', theirs: ['-r', '72', '-hide-annotations'] },
  { options: '-r=72 -f=2 -l=2', theirs: ['-r', '72', '-f', '2', '-l', '2'] },
  // With -e or -o only one of the two pages is left. pdftoppm is given that page.
  { options: '-r=72 -f=1 -l=2 -e', theirs: ['-r', '72', '-f', '2', '-l', '2'] },
  { options: '-r=72 -f=1 -l=2 -o', theirs: ['-r', '72', '-f', '1', '-l', '1'] },
  {
    options: '-f=1 -l=3',
    format: 'txt',
    theirs: ['-f', '1', '-l', '3'],
    reason: 'words are divided in other places where a document has no spaces',
  },
  { options: '', format: 'pdf', theirs: ['-r', '72'] },
  { options: '-append=blank.pdf', format: 'pdf', theirs: ['-r', '72'] },
  { options: '-append=blank.pdf -number=%p -number-pages=2', format: 'pdf', theirs: ['-r', '72'] },
  { options: '-stamp=blank.pdf -underlay=blank.pdf', format: 'pdf', theirs: ['-r', '72'] },
  { options: '-f=2 -l=2', format: 'pdf', theirs: ['-r', '72', '-f', '2', '-l', '2'] },
];

/** The label of a case in lists. */
export function nameOf({ options, format }: PdfCase): string {
  return [format && `outfile=….${format}`, options].filter(Boolean).join(' ');
}

/** Number of documents that each option set except the first is compared with, in turn. */
const DOCUMENTS_PER_CASE = 8;
/** Maximum number of documents that an option set is tried with, because some do not have the pages it selects. */
const TRIES_PER_CASE = 40;
const MIN_DOCUMENTS = 60;

/** Compares pages of the PDFs in a folder with pdftoppm's output, and returns the exit code. */
export async function run(
  folder: string,
  { write, limit, only }: { write: boolean; limit: number; only: string },
): Promise<number> {
  const isSource = (path: string) => path.toLowerCase().endsWith('.pdf') && path.includes(only);
  const sources = spread(await listSources(folder, isSource), limit);
  if (!only && sources.length < MIN_DOCUMENTS)
    throw new Error(`Expected at least ${MIN_DOCUMENTS} PDFs in ${folder}, found ${sources.length}.`);
  const comparing = await startComparing();
  const trials: Trial[] = [];
  const compareSome = inTurn(sources);
  for (const [index, each] of PDF_CASES.entries()) {
    const all = { wanted: sources.length, maxTries: sources.length };
    const some = { wanted: DOCUMENTS_PER_CASE, maxTries: TRIES_PER_CASE };
    await compareSome(index === 0 ? all : some, async (source) => {
      const trial = await comparing.tryCase(each, source);
      trials.push(trial);
      return trial.verdict !== 'neither';
    });
  }
  await comparing.close();
  return report(trials, sources.length, write);
}

function report(trials: readonly Trial[], documents: number, write: boolean): number {
  for (const { name, source, verdict, ours, theirs, similarity } of trials) {
    if (verdict === 'same' || verdict === 'neither') continue;
    const seen = similarity?.toFixed(3) ?? (ours && theirs ? `${ours} against ${theirs}` : '');
    console.log([verdict, name || 'defaults', source, seen].join('  '));
  }
  const rows = PDF_CASES.map((each) => {
    const own = trials.filter(({ name, verdict }) => name === nameOf(each) && verdict !== 'neither');
    const similarities = own.flatMap(({ similarity }) => (similarity === undefined ? [] : [similarity]));
    similarities.sort((a, b) => a - b);
    const count = (verdict: Trial['verdict']) => own.filter((trial) => trial.verdict === verdict).length;
    const unlike = own.length - count('same') - count('only ours');
    return {
      name: `\`${nameOf(each) || 'defaults'}\``,
      ...verdictOf(unlike, own.length, each.reason),
      measured: `${unlike} of ${own.length}`,
      documents: own.length,
      'other size': count('size'),
      'look different': count('look'),
      'only ours': count('only ours'),
      'only poppler': count('only theirs'),
      'median similarity': (similarities[Math.floor(similarities.length / 2)] ?? Number.NaN).toFixed(3),
    };
  });
  reportLikeness('pdftools', { run: `${documents} documents`, rows }, write);
  return rows.some((row) => row['only poppler'] > 0) ? 1 : 0;
}

const execute = promisify(execFile);

/** Minimum structural similarity of two pages that look alike to a reader, and share of words of texts that read alike. */
const ALIKE = 0.9;

/** The URL of `blank.pdf`, which is not downloaded. */
const BLANK = 'https://blank.invalid/';

/** Downloads an empty page. */
const download: Download = async (_, { directory }) => {
  const path = join(directory, 'blank.pdf');
  const bytes = blankPdf(1);
  await writeFile(path, bytes);
  return { path, name: 'blank.pdf', contentType: '', bytes: bytes.length };
};

interface Trial {
  /** Of the case. */
  readonly name: string;
  readonly source: string;
  readonly verdict: 'same' | 'size' | 'look' | 'only ours' | 'only theirs' | 'neither';
  readonly ours?: string;
  readonly theirs?: string;
  /** From -1 to 1, of images with the same size; from 0 to 1 of texts. */
  readonly similarity?: number;
}

/** Converts with our engine and with poppler's programs. */
export async function startComparing() {
  const engine = await startEngine(pdftools, createEngine, { download });
  const home = engine.temporary;

  async function convert(source: string, { options, format }: PdfCase): Promise<Buffer> {
    const given = options.replaceAll('=blank.pdf', `=${BLANK}`);
    return (await engine.convert(source, { name: '', options: given, format: format ?? 'png', time: 40_000 }))
      .files[0]!;
  }

  async function drawTheirs(source: string, args: readonly string[]): Promise<Buffer> {
    const target = join(home, `theirs-${randomUUID()}`);
    const pages = args.includes('-f') ? [] : ['-f', '1', '-l', '1'];
    await execute('pdftoppm', ['-png', '-singlefile', ...pages, ...args, source, target], {
      timeout: 40_000,
    });
    return readFile(`${target}.png`);
  }

  async function readTheirs(source: string, args: readonly string[]): Promise<Buffer> {
    const { stdout } = await execute('pdftotext', [...args, '-enc', 'UTF-8', source, '-'], {
      timeout: 40_000,
      maxBuffer: 2 ** 26,
      encoding: 'buffer',
    });
    return stdout;
  }

  /** Draws the first page of our PDF, as pdftoppm draws the page of the source. */
  async function drawOurPdf(source: string, each: PdfCase): Promise<Buffer> {
    const path = join(home, `ours-${randomUUID()}.pdf`);
    await writeFile(path, await convert(source, each));
    return drawTheirs(path, ['-r', '72', '-cropbox']);
  }

  async function tryCase(each: PdfCase, source: string): Promise<Trial> {
    const { theirs, mediaBox, format } = each;
    const [own, other] = await Promise.all([
      (format === 'pdf' ? drawOurPdf(source, each) : convert(source, each)).catch(() => undefined),
      (format === 'txt'
        ? readTheirs(source, theirs)
        : drawTheirs(source, mediaBox ? theirs : ['-cropbox', ...theirs])
      ).catch(() => undefined),
    ]);
    const trial = { name: nameOf(each), source: basename(source) };
    if (!own || !other) return { ...trial, verdict: own ? 'only ours' : other ? 'only theirs' : 'neither' };
    if (format === 'txt') {
      const similarity = commonWords(own.toString(), other.toString());
      return { ...trial, similarity, verdict: similarity >= ALIKE ? 'same' : 'look' };
    }
    const [a, b] = await Promise.all([gray(own), gray(other)]);
    const sizes = { ours: `${a.width}x${a.height}`, theirs: `${b.width}x${b.height}` };
    if (sizes.ours !== sizes.theirs) return { ...trial, ...sizes, verdict: 'size' };
    const similarity = similarityOf(a, b);
    return { ...trial, ...sizes, similarity, verdict: similarity >= ALIKE ? 'same' : 'look' };
  }

  return { tryCase, close: engine.close };
}

/** Returns whether poppler's programs are installed. */
export async function hasPoppler(): Promise<boolean> {
  return execute('pdftoppm', ['-v']).then(
    () => true,
    () => false,
  );
}

interface Gray {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Slightly blurred, because readers do not notice a shift by part of a pixel. */
async function gray(image: Buffer): Promise<Gray> {
  const { data, info } = await sharp(image)
    .flatten({ background: '#fff' })
    .toColorspace('b-w')
    .blur(1)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Mean structural similarity (Wang and others, 2004) over windows of 8x8 pixels. */
function similarityOf(one: Gray, other: Gray): number {
  const side = Math.min(8, one.width, one.height);
  const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
  let total = 0;
  let windows = 0;
  for (let top = 0; top + side <= one.height; top += side) {
    for (let left = 0; left + side <= one.width; left += side) {
      let [a, b, aa, bb, ab] = [0, 0, 0, 0, 0];
      for (let y = top; y < top + side; y += 1) {
        for (let x = left; x < left + side; x += 1) {
          const p = one.data[y * one.width + x]!;
          const q = other.data[y * one.width + x]!;
          a += p;
          b += q;
          aa += p * p;
          bb += q * q;
          ab += p * q;
        }
      }
      const n = side * side;
      const [ma, mb] = [a / n, b / n];
      const [va, vb, cov] = [aa / n - ma * ma, bb / n - mb * mb, ab / n - ma * mb];
      total += ((2 * ma * mb + c1) * (2 * cov + c2)) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
      windows += 1;
    }
  }
  return total / windows;
}

/** Returns the share of words that two texts have in common, however they are arranged. */
export function commonWords(one: string, other: string): number {
  const [a, b] = [countWords(one), countWords(other)];
  const total = sum(a.values()) + sum(b.values());
  const common = sum([...a].map(([word, count]) => Math.min(count, b.get(word) ?? 0)));
  return total === 0 ? 1 : (2 * common) / total;
}

const DIRECTIONS = /[\u200e\u200f\u202a-\u202e]/g;

function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  // Ligatures and other presentation forms as the letters they show, without marks of the writing direction.
  for (const word of text.normalize('NFKC').replace(DIRECTIONS, '').split(/\s+/)) {
    if (word !== '') counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  return counts;
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, number) => total + number, 0);
}
