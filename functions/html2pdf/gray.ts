import { readOutput, writeOutput } from '../engines/chromium/output.ts';
import { ConversionError } from '../shared/errors.ts';
import { readWrittenPdf } from './written-pdf.ts';

/**
 * Converts a PDF that Chromium has written to grayscale. Each page ends with a white rectangle in blend mode Color,
 * which takes hue and saturation from white (none) and keeps the luminosity. Text stays text.
 */
export async function makeGray(path: string): Promise<void> {
  await writeOutput(path, addGray(await readOutput(path)));
}

/** Returns the PDF followed by an incremental update (ISO 32000-1, 7.5.6) that replaces each page. */
function addGray(pdf: Buffer): Buffer {
  const written = readWrittenPdf(pdf);
  if (!written) {
    throw new ConversionError('CONVERSION_FAILED', 'The page could not be printed in grayscale.');
  }
  const { offsets, start, trailer } = written;
  const state = offsets.length;
  const before = state + 1;
  const after = state + 2;
  const pages = offsets
    .map((_, number) => ({ number, page: written.object(number) }))
    .filter(({ page }) => page.startsWith('<</Type /Page\n'));
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
