import { randomUUID } from 'node:crypto';
import { ConversionError } from '../../shared/errors.ts';
import type { PdfConversion } from './finish.ts';
import { MAX_JSON, Pdf, type PdfPrograms } from './pdf.ts';
import type { PdfDocument } from './pdfium/document.ts';

/**
 * Adapts a document that PDFium reads wrongly; see `adaptDocument`. Returns a copy to draw or read, or the document itself if
 * it needs no change or is too damaged or large for one.
 */
export async function adapt(
  programs: PdfPrograms,
  document: PdfDocument,
  conversion: PdfConversion,
): Promise<PdfDocument> {
  const { format } = conversion;
  const { foreignGlyphs, hiddenLayers, userUnits } = document.survey;
  if (format === 'pdf' || !(foreignGlyphs || hiddenLayers || userUnits)) return document;
  const pdf = new Pdf(programs, document.source, conversion);
  try {
    if ((await pdf.objects()).bytes > MAX_JSON) return document;
    const { target: update, reply } = await pdf.write('adapt', { isText: format === 'txt' });
    const inPoints = { ...document, sizeOf: sizesIn(reply.units, document) };
    if (!reply.isChanged) return inPoints;
    const { path } = await pdf.edit({ update, decrypt: true });
    return { ...inPoints, source: { ...document.source, id: randomUUID(), path, password: undefined } };
  } catch (thrown) {
    if (thrown instanceof ConversionError && thrown.code === 'CORRUPT_SOURCE') return document;
    throw thrown;
  }
}

/** Returns a function that gives the sizes of pages in points. */
function sizesIn(units: readonly number[], { sizeOf }: PdfDocument): PdfDocument['sizeOf'] {
  return async (page) => {
    const { width, height } = await sizeOf(page);
    const unit = units[page - 1] ?? 1;
    return { width: width * unit, height: height * unit };
  };
}
