import { randomUUID } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import type { Adapted } from './graph/operations.ts';
import { MAX_JSON } from './graph/streams.ts';
import type { PdfConversion } from './options.ts';
import type { PdfPrograms } from './pdf.ts';
import type { PdfDocument } from './pdfium/document.ts';

/** Adapts documents that PDFium reads wrongly; see `adaptDocument`. */
export function createAdapter({ qpdf, graphs }: PdfPrograms) {
  /** Returns a copy to draw or read, or the document itself if it needs no change or is too damaged or large for one. */
  async function adapt(document: PdfDocument, conversion: PdfConversion): Promise<PdfDocument> {
    const { format, directory } = conversion;
    const { foreignGlyphs, hiddenLayers, userUnits } = document.survey;
    if (format === 'pdf' || !(foreignGlyphs || hiddenLayers || userUnits)) return document;
    const { path: source, password } = document.source;
    const graph = join(directory, 'adapted.json');
    const update = join(directory, 'adapted-update.json');
    const target = join(directory, 'adapted.pdf');
    try {
      await qpdf.edit({ source, target: graph, password, json: true }, conversion);
      if ((await stat(graph)).size > MAX_JSON) return document;
      const name = (path: string) => relative(directory, path);
      const args = { graph: name(graph), target: name(update), isText: format === 'txt' };
      const files = { inputs: [graph], outputs: [update] };
      const { isChanged, units } = await graphs.run<Adapted>('adapt', args, files, conversion);
      const inPoints = { ...document, sizeOf: sizesIn(units, document) };
      if (!isChanged) return inPoints;
      await qpdf.edit({ source, target, password, update, decrypt: true }, conversion);
      return {
        ...inPoints,
        source: { ...document.source, id: randomUUID(), path: target, password: undefined },
      };
    } catch (thrown) {
      if (thrown instanceof ConversionError && thrown.code === 'CORRUPT_SOURCE') return document;
      throw thrown;
    }
  }

  return { adapt };
}

/** Returns a function that gives the sizes of pages in points. */
function sizesIn(units: readonly number[], { sizeOf }: PdfDocument): PdfDocument['sizeOf'] {
  return async (page) => {
    const { width, height } = await sizeOf(page);
    const unit = units[page - 1] ?? 1;
    return { width: width * unit, height: height * unit };
  };
}
