import { join, relative } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import type { Format } from '../../shared/formats.ts';
import type { Size } from '../../shared/options/geometry.ts';
import { choosePages, integers, selectsAll } from '../../shared/options/page-selection.ts';
import { runAhead } from '../../shared/run-ahead.ts';
import type { Output } from '../../shared/tool.ts';
import { damagedPageError, type Engines, type PdfDocument } from './document.ts';
import { finishPdf, type PdfConversion } from './finish.ts';
import type { PdfOptions } from './options.ts';
import { MAX_JSON, Pdf, type PdfPrograms } from './pdf.ts';
import type { Changes } from './qpdf.ts';

/** Warns that the rewritten PDF was signed. */
export const SIGNED = 'The signatures of the PDF are not valid in the result, because it was rewritten.';

/** Number of files that are written or stored at the same time. */
const AHEAD = 3;

/** Writes pages as PDFs: decrypted, rotated and finished. Adds what is missing in them to `warnings`. */
export async function* writePdfs(
  programs: PdfPrograms,
  document: PdfDocument,
  pages: readonly number[],
  conversion: PdfConversion,
  warnings: Set<string>,
): AsyncGenerator<Output> {
  const { delivery, options, finish = {} } = conversion;
  const files = filesOf(pages, conversion);
  const isWhole = selectsAll(pages, document.pageCount);
  const changes: Changes = {
    ...changesOf(conversion, document.survey.isArchive),
    stamp: await stampFor(programs, document, pages, conversion),
    rotate: options.rotate,
  };
  let source = new Pdf(programs, document.source, conversion);
  const write = async (some: readonly number[]) => {
    // Selecting all pages would lose parts of the document such as outlines and forms.
    if (isWhole && delivery === 'one') return finishPdf(source, changes, finish);
    const update = document.survey.hasLinks === false ? undefined : await pruned(source, some);
    return finishPdf(source, { ...changes, pages: some, update }, finish);
  };
  const [first = [], ...others] = files;
  async function* finished() {
    yield await write(first).catch(async (thrown: unknown) => {
      const isDamaged = thrown instanceof ConversionError && thrown.code === 'CORRUPT_SOURCE';
      if (!isDamaged || document.fallbackOnly) throw thrown;
      source = await source.repair();
      return write(first);
    });
    yield* runAhead(others, AHEAD, write);
  }
  let index = 0;
  for await (const { pdf, warnings: more } of finished()) {
    const some = files[index]!;
    index += 1;
    for (const warning of more) warnings.add(warning);
    const number = options.split === undefined ? some[0]! : index;
    yield { path: pdf.path, pages: some.length, ...(delivery !== 'one' && { page: number }) };
  }
}

/** Returns how every PDF is written. */
export function changesOf({ recompress }: Pick<PdfConversion, 'recompress'>, isArchive = false): Changes {
  // Compressed objects would break PDF/A-1.
  return { decrypt: true, recompress, compress: !isArchive };
}

/** Returns the changes that remove what leads to other pages than these, if there is any. */
async function pruned(pdf: Pdf, pages: readonly number[]): Promise<string | undefined> {
  if ((await pdf.objects()).bytes > MAX_JSON) return undefined;
  const { target, reply } = await pdf.write('select', { pages: pages.map((page) => page - 1) });
  return reply.isChanged ? target : undefined;
}

/**
 * Returns the pages of each file.
 * @throws ConversionError `BAD_PARAMETER` for a single file that should be split.
 */
export function filesOf(
  pages: readonly number[],
  { delivery, options: { split }, format }: Pick<PdfConversion, 'delivery' | 'options' | 'format'>,
): ReadonlyArray<readonly number[]> {
  if (delivery === 'one' && split !== undefined && format === 'pdf') {
    const message =
      "Parameter '-split' requires an 'outfile' with %d, such as part-%d.pdf, or an archive such as parts.pdf.zip.";
    throw new ConversionError('BAD_PARAMETER', message, { parameter: '-split' });
  }
  if (delivery === 'one') return [pages];
  const size = format === 'pdf' ? (split ?? 1) : 1;
  const count = Math.ceil(pages.length / size);
  return Array.from({ length: count }, (_, index) => pages.slice(index * size, (index + 1) * size));
}

/** Writes the PDF that draws the watermark, in the size of the first page. It is scaled for other pages. */
async function stampFor(
  programs: PdfPrograms,
  document: PdfDocument,
  [first = 1]: readonly number[],
  conversion: PdfConversion,
): Promise<Pdf | undefined> {
  const { watermark } = conversion.options;
  if (watermark === undefined) return undefined;
  return Pdf.create(programs, stampPdf(watermark, await document.sizeOf(first)), conversion);
}

/** Writes the text of pages. It includes the values of form fields if PDFium can read all pages. */
export async function* writeTexts(
  { pdfium, fallback }: Engines,
  document: PdfDocument,
  pages: readonly number[],
  conversion: PdfConversion,
): AsyncGenerator<Output> {
  const { directory, delivery, options, limits } = conversion;
  const { layout, hideAnnotations } = options;
  const mark = options.outputEncoding === 'utf-8-bom';
  for (const some of delivery === 'one' ? [pages] : pages.map((page) => [page])) {
    const target = `pages-${some[0]}.txt`;
    const path = join(directory, target);
    const failed = document.fallbackOnly
      ? some[0]!
      : await pdfium.readText(
          document.source,
          { pages: some, annotations: !hideAnnotations, layout, mark, target: path },
          conversion,
        );
    if (failed && !fallback) throw damagedPageError(failed);
    if (failed && fallback) {
      const { path: from, password } = document.source;
      const source = relative(directory, from);
      const args = { source, password, pages: some, target, mark, maxPixels: limits.pixels };
      const files = { inputs: [source], outputs: [target] };
      await fallback.run({ operation: 'text', arguments: args, ...files }, conversion);
    }
    yield delivery === 'one' ? { path } : { path, page: some[0]! };
  }
}

interface PageSelection {
  readonly options: PdfOptions;
  readonly format: Format;
  readonly delivery: 'one' | 'paged';
}

/**
 * Returns the pages to convert. Without a selection, this is the first page for a single image, and all pages
 * otherwise.
 * @throws ConversionError `PAGE_RANGE` if the document does not have them.
 */
export function selectPages({ options, format, delivery }: PageSelection, pageCount: number): number[] {
  const { odd, even } = options;
  const chosen = choosePages(options, pageCount);
  if (!chosen && !odd && !even && delivery === 'one' && isImage(format)) return [1];
  const pages = chosen ?? integers(1, pageCount);
  const selected = odd || even ? pages.filter((page) => page % 2 === (odd ? 1 : 0)) : pages;
  if (selected.length > 0) return selected;
  throw new ConversionError(
    'PAGE_RANGE',
    `Parameter '${odd ? '-o' : '-e'}' selects no page of the document.`,
    { parameter: odd ? '-o' : '-e' },
  );
}

/** Returns the range of the selected pages before the document's length, at most `max`, is known. */
export function rangeOf(
  { options, format, delivery }: PageSelection,
  max: number,
): { readonly from: number; readonly to: number } {
  const { firstPage, lastPage, pages, odd, even } = options;
  if (firstPage !== undefined || lastPage !== undefined)
    return { from: firstPage || 1, to: Math.min(lastPage || max, max) };
  const all = pages || odd || even || delivery === 'paged' || !isImage(format);
  return { from: 1, to: all ? max : 1 };
}

function isImage(format: Format): boolean {
  return format !== 'pdf' && format !== 'txt' && format !== 'json';
}

/** Average width of a capital letter of Helvetica-Bold, relative to the font size. */
const LETTER_WIDTH = 0.75;
/** Length of a word relative to the side of its square. */
const SPREAD = 0.8;
const ANGLE = Math.PI / 6;
/** Maximum number of words along the longer side of a page. */
const MAX_WORDS = 50;

/**
 * Returns a PDF with one page of `size` in points that shows a word of capital letters in translucent red, in each square
 * along the longer side.
 */
export function stampPdf(word: string, { width, height }: Size): Buffer {
  const side = Math.max(1, Math.min(width, height));
  const count = Math.min(MAX_WORDS, Math.max(1, Math.round(Math.max(width, height) / side)));
  const fontSize = (SPREAD * side) / (LETTER_WIDTH * word.length);
  const [cos, sin] = [Math.cos(ANGLE), Math.sin(ANGLE)];
  const texts = Array.from({ length: count }, (_, index) => {
    const along = (index + 0.5) / count;
    const [x, y] = width > height ? [width * along, height / 2] : [width / 2, height * along];
    // Moves from the middle of the square back to the start of the baseline.
    const [back, down] = [(SPREAD * side) / 2, 0.35 * fontSize];
    const left = x - back * cos + down * sin;
    const bottom = y - back * sin - down * cos;
    return `BT /F ${fixed(fontSize)} Tf ${[cos, sin, -sin, cos, left, bottom].map(fixed).join(' ')} Tm (${word}) Tj ET`;
  });
  const content = `/T gs 0.8 0 0 rg\n${texts.join('\n')}`;
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${fixed(width)} ${fixed(height)}] /Contents 4 0 R /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold >> >> /ExtGState << /T << /ca 0.4 >> >> >> >>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ]);
}

/** Writes numbered objects as a PDF. The first is the catalog. */
function assemble(objects: readonly string[]): Buffer {
  let text = '%PDF-1.4\n';
  const offsets = objects.map((object, index) => {
    const offset = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return offset;
  });
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries}`;
  const trailer = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + trailer, 'latin1');
}

function fixed(value: number): string {
  return value.toFixed(3);
}

/** Returns a PDF with empty pages of A4. */
export function blankPdf(pageCount: number): Buffer {
  const kids = Array.from({ length: pageCount }, (_, index) => `${index + 3} 0 R`);
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << >> >>';
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pageCount} >>`,
    ...kids.map(() => page),
  ]);
}
