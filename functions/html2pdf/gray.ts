import { readFile, writeFile } from 'node:fs/promises';
import { ConversionError } from '../shared/errors.ts';

/**
 * Converts a PDF that Chromium has written to grayscale. Each page ends with a white rectangle that is blended in by
 * color: it takes hue and saturation from white, which has none, and keeps the luminosity. Text stays text.
 */
export async function makeGray(path: string): Promise<void> {
  await writeFile(path, addGray(await readFile(path)));
}

/** Returns the PDF followed by an incremental update (ISO 32000-1, 7.5.6) that replaces each page. */
export function addGray(pdf: Buffer): Buffer {
  const { offsets, start, trailer } = readXref(pdf);
  const state = offsets.length;
  const before = state + 1;
  const after = state + 2;
  const pages = offsets.flatMap((offset, number) => {
    const page = offset === undefined ? undefined : readPage(pdf, offset, number);
    return page === undefined ? [] : [{ number, page }];
  });
  const objects: Array<[number: number, text: string]> = [
    [state, '<</Type /ExtGState\n/BM /Color>>'],
    [before, stream('q\n')],
    // Larger than any page.
    [after, stream('\nQ\nq /DmGray gs 1 g 0 0 14400 14400 re f Q\n')],
    ...pages.map(({ number, page }): [number, string] => [number, update(page, { state, before, after })]),
  ];

  let body = '\n';
  let xref = 'xref\n';
  for (const [number, text] of objects.sort(([one], [other]) => one - other)) {
    const offset = String(pdf.length + body.length).padStart(10, '0');
    xref += `${number} 1\n${offset} 00000 n \n`;
    body += `${number} 0 obj\n${text}\nendobj\n`;
  }
  const end = trailer.replace(/\/Size \d+/, `/Size ${state + 3}\n/Prev ${start}`);
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

function readPage(pdf: Buffer, offset: number, number: number): string | undefined {
  const head = `${number} 0 obj\n<</Type /Page\n`;
  if (pdf.toString('latin1', offset, offset + head.length) !== head) return undefined;
  const begin = offset + head.indexOf('<<');
  return pdf.toString('latin1', begin, pdf.indexOf('\nendobj', begin, 'latin1'));
}

/** Reads the cross-reference table that Chromium writes: the offset of each object, and of the table itself. */
function readXref(pdf: Buffer) {
  const end = pdf.toString('latin1', Math.max(0, pdf.length - 1000));
  const start = Number(/startxref\s+(\d+)\s+%%EOF\s*$/.exec(end)?.[1]);
  const table = Number.isInteger(start) ? pdf.toString('latin1', start) : '';
  const [, count, rest] = /^xref\n0 (\d+)\n(.*)$/s.exec(table) ?? [];
  const trailer = /trailer\n(<<.*>>)\nstartxref/s.exec(table)?.[1];
  if (!count || !rest || !trailer) {
    throw new ConversionError('CONVERSION_FAILED', 'The page could not be printed in grayscale.');
  }
  const lines = rest.split('\n').slice(0, Number(count));
  const offsets = lines.map((line) => (line.includes(' n') ? Number(line.slice(0, 10)) : undefined));
  return { offsets, start, trailer };
}
