import type { ScriptDependencies, StallTimeouts } from '../client.ts';
import { createGraphs, type Graphs } from './graph/client.ts';
import { createPdfium, type Pdfium } from './pdfium/pdfium.ts';
import { createQpdf, type Qpdf } from './qpdf/qpdf.ts';

/** The programs that read, draw and write the PDFs of one tool. */
export interface PdfPrograms {
  readonly qpdf: Qpdf;
  readonly graphs: Graphs;
  readonly pdfium: Pdfium;
  close(): Promise<void>;
}

/** Creates the programs. They start when they are used. `times` replaces PDFium's timeouts. */
export function createPdfPrograms(dependencies: ScriptDependencies, times?: StallTimeouts): PdfPrograms {
  const [qpdf, graphs] = [createQpdf(dependencies), createGraphs(dependencies)];
  const pdfium = createPdfium(dependencies, times);
  return {
    qpdf,
    graphs,
    pdfium,
    close: async () => {
      await Promise.all([qpdf.close(), graphs.close(), pdfium.close()]);
    },
  };
}
