import { join, relative } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import { selectsAll } from '../../shared/options/page-selection.ts';
import { fileContains } from '../../shared/source/file-contains.ts';
import type { Output } from '../../shared/tool.ts';
import { finishPdf, type PdfConversion } from './finish.ts';
import { Pdf, type PdfPrograms } from './pdf.ts';
import { damagedPageError, type Engines, type PdfDocument } from './pdfium/document.ts';
import type { Changes } from './qpdf.ts';
import { stampPdf } from './stamp.ts';

/** Warns that the rewritten PDF was signed. */
export const SIGNED = 'The signatures of the PDF are not valid in the result, because it was rewritten.';

/**
 * Whether a PDF is signed. A signature is never compressed, because the bytes that it covers must be readable in the
 * file.
 */
export function hasSignature(path: string): Promise<boolean> {
  return fileContains(path, '/ByteRange');
}

/** Whether a PDF claims to be PDF/A, which requires metadata that are readable in the file. */
export function claimsPdfA(path: string): Promise<boolean> {
  return fileContains(path, 'pdfaid:part');
}

/** Whether a PDF claims to be PDF/A or PDF/UA. */
export async function claimsStandard(path: string): Promise<boolean> {
  return (await claimsPdfA(path)) || (await fileContains(path, 'pdfuaid:part'));
}

/** Writes pages as PDFs: decrypted, rotated and finished. Adds what is missing in them to `warnings`. */
export async function* writePdfs(
  programs: PdfPrograms,
  document: PdfDocument,
  pages: readonly number[],
  conversion: PdfConversion,
  warnings: Set<string>,
): AsyncGenerator<Output> {
  const { delivery, options, finish = {}, recompress } = conversion;
  const files = filesOf(pages, conversion);
  const isWhole = selectsAll(pages, document.pageCount);
  const changes: Changes = {
    stamp: await stampFor(programs, document, pages, conversion),
    rotate: options.rotate,
    decrypt: true,
    recompress,
    // Compressed objects would break PDF/A-1.
    compress: !(await claimsPdfA(document.source.path)),
  };
  let source = new Pdf(programs, document.source, conversion);
  for (const [index, some] of files.entries()) {
    // Selecting all pages would lose parts of the document such as outlines and forms.
    const selected = isWhole && delivery === 'one' ? changes : { ...changes, pages: some };
    const finished = await finishPdf(source, selected, finish).catch(async (thrown: unknown) => {
      const isDamaged = thrown instanceof ConversionError && thrown.code === 'CORRUPT_SOURCE';
      if (!isDamaged || document.fallbackOnly || index > 0) throw thrown;
      source = await source.repair();
      return finishPdf(source, selected, finish);
    });
    for (const warning of finished.warnings) warnings.add(warning);
    const number = options.split === undefined ? some[0]! : index + 1;
    yield {
      path: finished.pdf.path,
      pages: some.length,
      ...(delivery !== 'one' && { page: number }),
    };
  }
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
  for (const some of delivery === 'one' ? [pages] : pages.map((page) => [page])) {
    const target = `pages-${some[0]}.txt`;
    const path = join(directory, target);
    const failed = document.fallbackOnly
      ? some[0]!
      : await pdfium.readText(
          document.source,
          { pages: some, annotations: !hideAnnotations, layout, target: path },
          conversion,
        );
    if (failed && !fallback) throw damagedPageError(failed);
    if (failed && fallback) {
      const { path: from, password } = document.source;
      const source = relative(directory, from);
      const args = { source, password, pages: some, target, maxPixels: limits.pixels };
      const files = { inputs: [source], outputs: [target] };
      await fallback.run({ operation: 'text', arguments: args, ...files }, conversion);
    }
    yield delivery === 'one' ? { path } : { path, page: some[0]! };
  }
}
