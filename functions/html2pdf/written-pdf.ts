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
  readonly title: string;
  /** Nesting level, 1 for the outermost. */
  readonly level: number;
  /** Page of the PDF, from 1. */
  readonly page: number;
}

/** Returns the bookmarks in the order of the document. */
export function readBookmarks(pdf: WrittenPdf): Bookmark[] {
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
    if (page !== undefined) bookmarks.push({ title: readTitle(text), level, page });
    // Children come before the next sibling.
    pending.push({ number: reference(text, 'Next'), level });
    pending.push({ number: reference(text, 'First'), level: level + 1 });
  }
  return bookmarks;
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

function readTitle(text: string): string {
  const hex = /\/Title <FEFF([0-9A-F]*)>/i.exec(text)?.[1];
  if (hex !== undefined) return Buffer.from(hex, 'hex').swap16().toString('utf16le');
  const literal = /\/Title \(((?:[^\\()]|\\.)*)\)/s.exec(text)?.[1] ?? '';
  return literal.replace(/\\([0-7]{3}|.)/gs, (_, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (ESCAPES[code] ?? code),
  );
}
