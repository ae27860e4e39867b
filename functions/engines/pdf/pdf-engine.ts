import { ConversionError } from '../../shared/errors.ts';
import { checkImageSize, type Format } from '../../shared/formats.ts';
import type { Converted } from '../../shared/tool.ts';
import { adapt } from './adapter.ts';
import type { PdfConversion } from './finish.ts';
import { framePage } from './frame.ts';
import { colorOf, PAGE_IMAGES, type PageImage } from './options.ts';
import type { PdfPrograms } from './pdf.ts';
import { type Engines, openDocument, type PdfDocument } from './pdfium/document.ts';
import { type DrawOptions, drawFrames } from './pdfium/draw.ts';
import type { Drawn, PageFrame } from './pdfium/drawing.ts';
import type { Fallback } from './pdfjs/fallback.ts';
import { filesOf, hasSignature, SIGNED, writePdfs, writeTexts } from './rewrite.ts';
import { rangeOf, selectPages } from './selection.ts';
import { drawPages } from './share-pages.ts';

export interface PdfEngine {
  convert(conversion: PdfConversion): Promise<Converted>;
}

/**
 * Creates an engine that draws pages with PDFium, a document in up to `size` processes. Without `fallback`, documents and
 * pages that PDFium cannot draw are reported as damaged, and only jpg, png and tiff can be written.
 */
export function createPdfEngine(
  programs: PdfPrograms,
  { size }: { readonly size: number },
  fallback?: Fallback,
): PdfEngine {
  const engines: Engines = { pdfium: programs.pdfium, fallback };

  async function convert(conversion: PdfConversion) {
    const { format, delivery, limits } = conversion;
    const document = await adapt(programs, await open(engines, conversion), conversion);
    const { pageCount } = document;
    const pages = selectPages(conversion, pageCount);
    const files = filesOf(pages, conversion).length;
    if (files > limits.files) {
      const message = `The result would have ${files} files. The maximum is ${limits.files}. Select fewer pages.`;
      throw new ConversionError('RESULT_TOO_LARGE', message);
    }
    if (format === 'pdf') {
      const warnings = new Set((await hasSignature(conversion.source.path)) ? [SIGNED] : []);
      const written = writePdfs(programs, document, pages, conversion, warnings);
      // Nothing is stored before all files follow the standard.
      const outputs = conversion.finish?.version === undefined ? written : await Array.fromAsync(written);
      return { pageCount, warnings: [...warnings], outputs };
    }
    if (format === 'txt') return { pageCount, outputs: writeTexts(engines, document, pages, conversion) };
    const frames: PageFrame[] = [];
    for (const number of pages) frames.push(await frame(document, number, conversion));
    const drawOptions = drawOptionsOf(
      conversion,
      imageFormat(format),
      delivery === 'one' && pages.length > 1,
    );
    if (delivery === 'one') {
      if (drawOptions.oneFile && format !== 'tiff') checkStack(frames, format, limits.pixels);
      const outputs: Drawn[] = [];
      await drawFrames(engines, document, frames, drawOptions, conversion, (drawn) => outputs.push(drawn));
      return { pageCount, outputs: outputs.map(({ path }) => ({ path })) };
    }
    const byNumber = new Map(frames.map((one) => [one.number, one]));
    const outputs = drawPages(pages, size, (some, { signal, onDrawn }) => {
      const share = some.map((number) => byNumber.get(number)!);
      return drawFrames(engines, document, share, drawOptions, { ...conversion, signal }, onDrawn);
    });
    return { pageCount, outputs: outputs(conversion.signal) };
  }

  return { convert };
}

async function open(engines: Engines, conversion: PdfConversion): Promise<PdfDocument> {
  const { source, options, limits } = conversion;
  const passwords = [options.userPassword, options.ownerPassword].filter((one) => one !== undefined);
  const document = await openDocument(engines, { path: source.path, cropBox: options.cropBox }, passwords, {
    ...conversion,
    maxPixels: limits.pixels,
    range: rangeOf(conversion, limits.pages),
  });
  if (document.pageCount > limits.pages) {
    const message = `The document has ${document.pageCount} pages. The maximum is ${limits.pages}.`;
    throw new ConversionError('SOURCE_TOO_LARGE', message);
  }
  return document;
}

function drawOptionsOf(conversion: PdfConversion, format: PageImage, oneFile: boolean): DrawOptions {
  const { options, directory, limits } = conversion;
  const { rotate, transparent, trim, quality, hideAnnotations } = options;
  return {
    drawing: { rotate, transparent, trim, annotations: !hideAnnotations, color: colorOf(options) },
    encoding: { format, quality },
    directory,
    oneFile,
    maxPixels: limits.pixels,
  };
}

function imageFormat(format: Format): PageImage {
  const image = PAGE_IMAGES.find((known) => known === format);
  if (!image) throw new Error(`Pages cannot be drawn as ${format}.`);
  return image;
}

async function frame(
  document: PdfDocument,
  number: number,
  { options, format, limits }: PdfConversion,
): Promise<PageFrame> {
  const framed = framePage(await document.sizeOf(number), options);
  checkImageSize(framed, { maxPixels: limits.pixels, format, what: `Page ${number}` });
  return { number, ...framed };
}

function checkStack(frames: readonly PageFrame[], format: Format, maxPixels: number): void {
  const size = {
    width: Math.max(...frames.map(({ width }) => width)),
    height: frames.reduce((sum, { height }) => sum + height, 0),
  };
  checkImageSize(size, { maxPixels, format, what: `${frames.length} pages in one image` });
}
