import { createPdfEngine, type PdfEngine } from '../engines/pdf/pdf-engine.ts';
import { createFallback } from '../engines/pdf/pdfjs/fallback.ts';

/**
 * Creates the engine: PDFium, and pdf.js where PDFium fails, in up to `size` processes each, which share a document's
 * pages.
 */
export function createEngine(
  dependencies: Parameters<typeof createPdfEngine>[0] & Parameters<typeof createFallback>[0],
): PdfEngine {
  return createPdfEngine(dependencies, createFallback(dependencies));
}
