import { readOutput, writeOutput } from '../engines/chromium/output.ts';
import { ConversionError } from '../shared/errors.ts';

/** A PDF as Chromium writes it: one cross-reference table, and uncompressed dictionaries. */
interface WrittenPdf {
  /** Returns the text of an object without its number, or an empty string if there is none. */
  object(number: number): string;
  /** Offsets of the objects, by number. */
  readonly offsets: ReadonlyArray<number | undefined>;
  /** Offset of the cross-reference table. */
  readonly start: number;
  readonly trailer: string;
}

/** Reads the cross-reference table of a PDF. Returns `undefined` if Chromium did not write the PDF. */
export function readWrittenPdf(pdf: Buffer): WrittenPdf | undefined {
  const end = pdf.toString('latin1', Math.max(0, pdf.length - 1000));
  const start = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(end)?.[1]);
  const table = Number.isInteger(start) ? pdf.toString('latin1', start) : '';
  const [, count, rest] = /^xref\n0 (\d+)\n(.*)$/s.exec(table) ?? [];
  const trailer = /trailer\n(<<.*>>)\nstartxref/s.exec(table)?.[1];
  if (!count || !rest || !trailer) return undefined;
  const lines = rest.split('\n').slice(0, Number(count));
  const offsets = lines.map((line) => (line.includes(' n') ? Number(line.slice(0, 10)) : undefined));
  const object = (number: number) => {
    const offset = offsets[number];
    if (offset === undefined) return '';
    const head = `${number} 0 obj\n`;
    if (pdf.toString('latin1', offset, offset + head.length) !== head) return '';
    return pdf.toString('latin1', offset + head.length, pdf.indexOf('\nendobj', offset, 'latin1'));
  };
  return { object, offsets, start, trailer };
}

/** A heading that has a bookmark. */
export interface Bookmark {
  /** Number of the object. */
  readonly number: number;
  readonly title: string;
  /** Nesting level, 1 for the outermost. */
  readonly level: number;
  /** Page of the PDF, from 1. */
  readonly page: number;
}

/** Returns the bookmarks in the order of the document, with the texts of their headings as titles. */
export function readBookmarks(pdf: WrittenPdf, headings: readonly string[]): Bookmark[] {
  const pages = pageNumbers(pdf);
  const catalog = pdf.object(reference(pdf.trailer, 'Root'));
  const bookmarks: Bookmark[] = [];
  const pending = [{ number: reference(pdf.object(reference(catalog, 'Outlines')), 'First'), level: 1 }];
  for (const seen = new Set<number>(); pending.length > 0; ) {
    const { number, level } = pending.pop()!;
    if (number === 0 || seen.has(number)) continue;
    seen.add(number);
    const text = pdf.object(number);
    const page = pages.get(Number(/\/Dest \[(\d+) 0 R/.exec(text)?.[1]));
    if (page !== undefined) bookmarks.push({ number, title: readTitle(text), level, page });
    // Children come before the next sibling.
    pending.push({ number: reference(text, 'Next'), level });
    pending.push({ number: reference(text, 'First'), level: level + 1 });
  }
  return restoreTitles(bookmarks, headings);
}

/** Maximum number of headings without a bookmark that are skipped. */
const MAX_SKIPPED = 20;

/**
 * Replaces the titles with the texts of the headings. Chromium's titles are what it paints: without the spaces where
 * lines wrap, and with the words of right-to-left scripts in reverse order.
 */
function restoreTitles(bookmarks: readonly Bookmark[], headings: readonly string[]): Bookmark[] {
  const keys = headings.map(lettersOf);
  let next = 0;
  return bookmarks.map((bookmark) => {
    const found = keys.slice(next, next + MAX_SKIPPED).indexOf(lettersOf(bookmark.title));
    if (found < 0) return bookmark;
    next += found + 1;
    return { ...bookmark, title: headings[next - 1]! };
  });
}

/** Returns the sorted characters of a text, without spaces, hyphens and invisible ones, which depend on the lines. */
function lettersOf(text: string): string {
  return [...text.replace(/[\s\p{Cf}\u2010-]+/gu, '')].sort().join('');
}

/** Returns the pages, from 1, of link targets within the document, by the element's `id`. */
export function readDestinations(pdf: WrittenPdf): Map<string, number> {
  const pages = pageNumbers(pdf);
  const catalog = pdf.object(reference(pdf.trailer, 'Root'));
  const destinations = new Map<string, number>();
  for (const [, name, page] of pdf
    .object(reference(catalog, 'Dests'))
    .matchAll(/\/([^\s/<>[\]()]+) \[(\d+) 0 R/g)) {
    const bytes = name!.replace(/#([0-9a-f]{2})/gi, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    );
    const number = pages.get(Number(page));
    if (number !== undefined) destinations.set(Buffer.from(bytes, 'latin1').toString('utf8'), number);
  }
  return destinations;
}

/** Returns page numbers, from 1, by the number of the page's object. */
function pageNumbers(pdf: WrittenPdf): Map<number, number> {
  const numbers = new Map<number, number>();
  const seen = new Set<number>();
  const pending = [reference(pdf.object(reference(pdf.trailer, 'Root')), 'Pages')];
  while (pending.length > 0) {
    const number = pending.pop()!;
    if (seen.has(number)) continue;
    seen.add(number);
    const text = pdf.object(number);
    const kids = /\/Kids \[([^\]]*)\]/.exec(text)?.[1];
    if (kids === undefined) numbers.set(number, numbers.size + 1);
    else pending.push(...[...kids.matchAll(/(\d+) 0 R/g)].map(([, kid]) => Number(kid)).reverse());
  }
  return numbers;
}

function reference(text: string, key: string): number {
  return Number(new RegExp(`/${key} (\\d+) 0 R`).exec(text)?.[1] ?? 0);
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

const TITLE = /\/Title (?:<FEFF([0-9A-F]*)>|\(((?:[^\\()]|\\.)*)\))/is;

function readTitle(text: string): string {
  const [, hex, literal = ''] = TITLE.exec(text) ?? [];
  if (hex !== undefined) return Buffer.from(hex, 'hex').swap16().toString('utf16le');
  return literal.replace(/\\([0-7]{3}|.)/gs, (_, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
}

/**
 * Changes a PDF that Chromium has written: gives its bookmarks the texts of `headings`, and shows it in gray if `gray`.
 */
export async function updatePdf(path: string, headings: readonly string[], gray: boolean): Promise<void> {
  if (headings.length === 0 && !gray) return;
  const pdf = await readOutput(path);
  const written = readWrittenPdf(pdf);
  if (!written && gray)
    throw new ConversionError('CONVERSION_FAILED', 'The page could not be printed in grayscale.');
  if (!written) return;
  const objects = [...titledBookmarks(written, headings), ...(gray ? grayPages(written) : [])];
  if (objects.length > 0) await writeOutput(path, append(pdf, written, objects));
}

type PdfObject = readonly [number: number, text: string];

function titledBookmarks(written: WrittenPdf, headings: readonly string[]): PdfObject[] {
  return readBookmarks(written, headings).flatMap(({ number, title }) => {
    const text = written.object(number);
    if (readTitle(text) === title) return [];
    const hex = Buffer.from(`\ufeff${title}`, 'utf16le').swap16().toString('hex');
    return [[number, text.replace(TITLE, `/Title <${hex}>`)]];
  });
}

/** Ends each page with a white rectangle in blend mode Color, which takes hue and saturation from white (none). */
function grayPages({ offsets, object }: WrittenPdf): PdfObject[] {
  const state = offsets.length;
  const before = state + 1;
  const after = state + 2;
  const pages = offsets
    .map((_, number) => ({ number, page: object(number) }))
    .filter(({ page }) => page.startsWith('<</Type /Page\n'));
  return [
    [state, '<</Type /ExtGState\n/BM /Color>>'],
    [before, stream('q\n')],
    // Larger than any page.
    [after, stream('\nQ\nq /DmGray gs 1 g 0 0 14400 14400 re f Q\n')],
    ...pages.map(({ number, page }): PdfObject => [number, update(page, { state, before, after })]),
  ];
}

/** Returns the PDF followed by an incremental update (ISO 32000-1, 7.5.6) with changed objects. */
function append(pdf: Buffer, { offsets, start, trailer }: WrittenPdf, objects: readonly PdfObject[]): Buffer {
  let body = '\n';
  let xref = 'xref\n';
  const sorted = objects.toSorted(([one], [other]) => one - other);
  for (const [number, text] of sorted) {
    const offset = String(pdf.length + body.length).padStart(10, '0');
    xref += `${number} 1\n${offset} 00000 n \n`;
    body += `${number} 0 obj\n${text}\nendobj\n`;
  }
  const size = Math.max(offsets.length, sorted.at(-1)![0] + 1);
  const end = trailer.replace(/\/Size \d+/, `/Size ${size}\n/Prev ${start}`);
  const position = pdf.length + body.length;
  return Buffer.concat([
    pdf,
    Buffer.from(`${body}${xref}trailer\n${end}\nstartxref\n${position}\n%%EOF\n`, 'latin1'),
  ]);
}

function update(page: string, names: { state: number; before: number; after: number }): string {
  const entry = `/DmGray ${names.state} 0 R`;
  const resources = page.includes('/ExtGState <<')
    ? page.replace('/ExtGState <<', `/ExtGState <<${entry} `)
    : page.replace('/Resources <<', `/Resources <</ExtGState <<${entry}>>\n`);
  const group = page.includes('/Group') ? '' : '/Group <</S /Transparency /CS /DeviceRGB>>\n';
  return resources.replace(
    /\/Contents (\d+ 0 R)/,
    `${group}/Contents [${names.before} 0 R $1 ${names.after} 0 R]`,
  );
}

function stream(text: string): string {
  return `<</Length ${text.length}>> stream\n${text}\nendstream`;
}

/** Maximum length of an image's dictionary. */
const DICTIONARY = 400;

/**
 * Replaces the ICC profile of images in a PDF that Chromium has written with a device color space. The profile is
 * sRGB, and qpdf does not recompress images with a profile.
 */
export async function useDeviceColors(path: string): Promise<void> {
  const pdf = await readOutput(path);
  const written = readWrittenPdf(pdf);
  for (const offset of written?.offsets ?? []) {
    if (offset === undefined) continue;
    const head = pdf.toString('latin1', offset, offset + DICTIONARY).split('>> stream', 1)[0]!;
    const [space = '', profile] = /\[\/ICCBased (\d+) 0 R\]/.exec(head) ?? [];
    if (!profile || !head.includes('/Subtype /Image')) continue;
    const isGray = /\/N 1\b/.test(written!.object(Number(profile)).slice(0, DICTIONARY));
    // Padded to the same length, so that no offset changes.
    const device = (isGray ? '/DeviceGray' : '/DeviceRGB').padEnd(space.length);
    pdf.write(device, offset + head.indexOf(space), 'latin1');
  }
  await writeOutput(path, pdf);
}
