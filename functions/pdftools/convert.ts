import { createPdfEngine, type PdfEngine } from '../engines/pdf/pages.ts';
import { createFallback } from '../engines/pdf/pdfjs/fallback.ts';
import type { EngineDependencies } from '../shared/tool.ts';

/**
 * Creates the engine: PDFium, and pdf.js where PDFium fails, in up to `size` processes each that share a
 * document's pages.
 */
export function createEngine(
  dependencies: Pick<EngineDependencies, 'layers' | 'code' | 'temporary' | 'size' | 'sandbox' | 'observer'>,
): PdfEngine {
  return createPdfEngine(dependencies, createFallback(dependencies));
}
