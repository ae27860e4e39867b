import { readFile } from 'node:fs/promises';
import { basename, dirname, extname } from 'node:path';
import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { createEngine } from '../../functions/doc2any/convert.ts';
import { doc2any } from '../../functions/doc2any/tool.ts';
import { readInput } from '../../functions/engines/office/inputs.ts';
import { drawPage } from '../helpers/pdf.ts';
import { difference } from '../helpers/pixels.ts';
import { startEngine } from '../lab/engine.ts';
import type { Measured } from '../run/report.ts';
import { listSources, reportLikeness, spread } from './comparison.ts';
import { convertHere } from './documents.ts';

/** Compares our PDFs of a folder's documents with those that Microsoft Office made of them, and returns the exit code. */
export async function run(
  folder: string,
  { write, limit, only }: { write: boolean; limit: number; only: string },
): Promise<number> {
  const pairs = (await findPairs(folder)).filter(({ document }) => document.includes(only));
  const chosen = new Set(
    spread(
      pairs.map(({ document }) => document),
      limit,
    ),
  );
  const engine = await startEngine(doc2any, createEngine, { size: 1 });
  const all: Similarity[] = [];
  let failed = 0;
  for (const { document, pdf } of pairs.filter((pair) => chosen.has(pair.document))) {
    const ours = await convertHere({ engine }, document, '', 'pdf');
    const similarity = ours && (await compareWithOffice(ours, await readFile(pdf)));
    if (similarity) all.push(similarity);
    else failed += 1;
    console.log(similarity ? describe(basename(document), similarity) : `failed  ${basename(document)}`);
  }
  await engine.close();
  const counted = all.filter(({ sameText }) => sameText);
  const others = `${all.length - counted.length} with another text, ${failed} not converted`;
  console.log(`${counted.length} pairs; not counted: ${others}`);
  reportLikeness('word', tableOf(counted), write);
  return failed > 0 ? 1 : 0;
}

function describe(name: string, { group, pages, lines, places, look, sameText }: Similarity): string {
  const figures = [lines, places].map((each) => each.toFixed(2)).join('  ');
  return `${figures}  ${look.toFixed(1).padStart(5)}  ${pages.join('/').padStart(7)}  ${group}  ${name}${sameText ? '' : '  (other text)'}`;
}

function tableOf(all: readonly Similarity[]): Measured {
  const groups = [...new Set(all.map(({ group }) => group))].sort();
  const rows = [...groups, 'all'].map((group) => {
    const own = all.filter((each) => group === 'all' || each.group === group);
    const same = own.filter(({ pages: [ours, theirs] }) => ours === theirs).length;
    const part = `${((100 * same) / Math.max(1, own.length)).toFixed(0)} %`;
    const of = (figure: (each: Similarity) => number, digits = 2) => median(own.map(figure)).toFixed(digits);
    return {
      fonts: group,
      documents: own.length,
      'same page count': part,
      'same lines': of(({ lines }) => lines),
      'on same pages': of(({ places }) => places),
      'difference of color': of(({ look }) => look, 1),
    };
  });
  return { run: `${all.length} documents`, columns: Object.keys(rows[0]!), rows };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return (sorted[Math.floor(middle - 0.25)]! + sorted[Math.floor(middle)]!) / 2;
}

/** Where a PDF breaks its lines and pages, and in which fonts. */
interface Layout {
  /** Sorted letters and digits of each line, by page, because PDFs contain text from right to left in various orders. */
  readonly pages: ReadonlyArray<readonly string[]>;
  /** Number of characters by the name of their font. */
  readonly fonts: ReadonlyMap<string, number>;
}

interface Piece {
  readonly str: string;
  readonly fontName: string;
  readonly transform: readonly number[];
}

/** Fonts whose characters stand for other signs, such as bullets. Word and LibreOffice write different characters for the same sign. */
const SYMBOLS = /Symbol|Wingdings|Webdings/;

/** Pieces of a line may be raised or lowered by this part of the font size. */
const RAISED = 0.4;

/** Returns the names of the programs that wrote a PDF. */
function readWriter(bytes: Uint8Array): Promise<string> {
  return withDocument(bytes, async (document) => {
    const { info } = (await document.getMetadata()) as { info: { Producer?: string; Creator?: string } };
    return `${info.Producer ?? ''} ${info.Creator ?? ''}`;
  });
}

export function readLayout(bytes: Uint8Array): Promise<Layout> {
  return withDocument(bytes, async (document) => {
    const fonts = new Map<string, number>();
    const pages: string[][] = [];
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      // Loads the fonts, of which the text knows only an id.
      await page.getOperatorList();
      const familyOf = (font: string) => {
        const { name = '' } = page.commonObjs.has(font)
          ? (page.commonObjs.get(font) as { name?: string })
          : {};
        return name.replace(/^[A-Z]{6}\+/, '');
      };
      const pieces = items.filter(
        (item): item is typeof item & Piece =>
          'str' in item && item.str.trim() !== '' && !SYMBOLS.test(familyOf(item.fontName)),
      );
      pages.push(linesOf(pieces));
      for (const { str, fontName } of pieces) {
        const family = familyOf(fontName);
        fonts.set(family, (fonts.get(family) ?? 0) + str.length);
      }
      page.cleanup();
    }
    return { pages, fonts };
  });
}

async function withDocument<Result>(
  bytes: Uint8Array,
  read: (document: PDFDocumentProxy) => Promise<Result>,
): Promise<Result> {
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 });
  try {
    return await read(await task.promise);
  } finally {
    await task.destroy();
  }
}

function linesOf(pieces: readonly Piece[]): string[] {
  const lines: { y: number; pieces: Piece[] }[] = [];
  for (const piece of pieces) {
    const y = piece.transform[5]!;
    const height = Math.hypot(piece.transform[2]!, piece.transform[3]!);
    const line = lines.find((each) => Math.abs(each.y - y) <= RAISED * height);
    if (line) line.pieces.push(piece);
    else lines.push({ y, pieces: [piece] });
  }
  return lines
    .sort((one, other) => other.y - one.y)
    .map((line) => {
      const text = line.pieces.map(({ str }) => str).join('');
      return [...text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '')].sort().join('');
    })
    .filter((text) => text !== '');
}

/** A document and the PDF that Microsoft Office made of it. */
interface Pair {
  readonly document: string;
  readonly pdf: string;
}

/** Finds the pairs below a folder: PDFs that Office wrote, beside a document of the same name or in the same folder alone. */
async function findPairs(folder: string): Promise<Pair[]> {
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

/** Pages of each document whose look is compared. */
const PAGES = 3;
/** Share of characters that two versions of a document have in common. */
const SAME_TEXT = 0.985;

/** How much one of our PDFs is like the one that Office made of the same document. */
interface Similarity {
  /** Whether both contain the same characters. Otherwise the document was changed after its PDF was made. */
  readonly sameText: boolean;
  readonly group: string;
  readonly pages: readonly [ours: number, theirs: number];
  /** Share of lines that begin and end alike, on any page. */
  readonly lines: number;
  /** Share of lines that are alike and on the same page. */
  readonly places: number;
  /** Mean difference of the channels of the first pages, 0 to 255. */
  readonly look: number;
}

/** Font families by what documents can expect of their substitutes. The first that a tenth of the characters have decides. */
const GROUPS: ReadonlyArray<readonly [group: string, fonts: RegExp]> = [
  [
    'CJK',
    /Gothic|Mincho|Ming|Sim(Sun|Hei)|YaHei|JhengHei|Kai|FangSong|DengXian|Song|Hei|Meiryo|Malgun|Batang|Gulim|Dotum|CJK|Yu-?Min|AppleSD|Hiragino|微软|宋体|黑体/i,
  ],
  ['Cambria', /Cambria(?!Math)/],
  ['Aptos', /Aptos/],
  [
    'Arial, Calibri, Times, Courier',
    /Arial(?!Narrow|-?Black|Unicode|Rounded)|Helvetica|Calibri|Times|Courier/,
  ],
];

function groupOf(fonts: Layout['fonts']): string {
  const total = [...fonts.values()].reduce((sum, each) => sum + each, 0);
  const share = (names: RegExp) =>
    [...fonts].reduce((sum, [name, count]) => sum + (names.test(name) ? count : 0), 0) / total;
  const [cjk, ...others] = GROUPS;
  // Latin letters outnumber ideographs, but these decide the height of lines.
  if (share(cjk![1]) > 0.1) return cjk![0];
  const best = others
    .map(([group, names]) => ({ group, part: share(names) }))
    .sort((a, b) => b.part - a.part)[0]!;
  return best.part >= 0.6 ? best.group : 'others';
}

async function compareWithOffice(ours: Uint8Array, theirs: Uint8Array): Promise<Similarity> {
  const [one, other] = [await readLayout(ours), await readLayout(theirs)];
  return {
    sameText: alike(characters(one), characters(other)) >= SAME_TEXT,
    group: groupOf(other.fonts),
    pages: [one.pages.length, other.pages.length],
    lines: alike(one.pages.flat(), other.pages.flat()),
    places: alike(numbered(one.pages), numbered(other.pages)),
    look: await lookOf(ours, theirs, Math.min(PAGES, one.pages.length, other.pages.length)),
  };
}

function characters({ pages }: Layout): string[] {
  return [...pages.flat().join('')];
}

function numbered(pages: Layout['pages']): string[] {
  return pages.flatMap((lines, page) => lines.map((line) => `${page} ${line}`));
}

/** Returns the share of items that both have, 1 if there are none. */
function alike(ours: readonly string[], theirs: readonly string[]): number {
  if (ours.length + theirs.length === 0) return 1;
  const left = new Map<string, number>();
  for (const each of ours) left.set(each, (left.get(each) ?? 0) + 1);
  let common = 0;
  for (const each of theirs) {
    const count = left.get(each) ?? 0;
    if (count > 0) common += 1;
    left.set(each, count - 1);
  }
  return (2 * common) / (ours.length + theirs.length);
}

async function lookOf(ours: Uint8Array, theirs: Uint8Array, pages: number): Promise<number> {
  let sum = 0;
  for (let page = 1; page <= pages; page++) {
    sum += await difference(await drawPage(ours, page), await drawPage(theirs, page));
  }
  return sum / Math.max(1, pages);
}
