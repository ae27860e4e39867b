import { randomUUID } from 'node:crypto';
import { ConversionError } from '../../shared/errors.ts';
import { checkImageSize, type Format } from '../../shared/formats.ts';
import { withAnySignal } from '../../shared/time.ts';
import type { Converted, Output } from '../../shared/tool.ts';
import { type DrawOptions, drawFrames, type Engines, openDocument, type PdfDocument } from './document.ts';
import { type Drawn, framePage, type PageFrame } from './drawing.ts';
import type { PdfConversion } from './finish.ts';
import { colorOf, PAGE_IMAGES, type PageImage } from './options.ts';
import { MAX_JSON, Pdf, type PdfPrograms } from './pdf.ts';
import type { Fallback } from './pdfjs/fallback.ts';
import { filesOf, rangeOf, SIGNED, selectPages, writePdfs, writeTexts } from './rewrite.ts';

interface PdfEngine {
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
      const warnings = new Set(document.survey.isSigned ? [SIGNED] : []);
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

/**
 * Adapts a document that PDFium reads wrongly; see `adaptForPdfium`. Returns a copy to draw or read, or the document itself if
 * it needs no change or is too damaged or large for one.
 */
async function adapt(
  programs: PdfPrograms,
  document: PdfDocument,
  conversion: PdfConversion,
): Promise<PdfDocument> {
  const { format } = conversion;
  const { bareLines, foreignGlyphs, hiddenLayers, userUnits } = document.survey;
  if (format === 'pdf' || !(bareLines || foreignGlyphs || hiddenLayers || userUnits)) return document;
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

/**
 * Maximum number of pages per share: small enough to distribute the pages, large enough to make opening the document
 * worthwhile.
 */
const PAGES_PER_SHARE = 16;

/** A request to draw one share of the pages. */
interface ShareRequest {
  readonly signal: AbortSignal;
  /** Called for each page as soon as its file is complete. */
  readonly onDrawn: (drawn: Drawn) => void;
}

/**
 * Draws pages in `size` processes at a time and yields them in order, each as soon as it and all previous ones are
 * complete. Stops drawing when the caller stops iterating.
 */
export function drawPages(
  pages: readonly number[],
  size: number,
  run: (pages: readonly number[], share: ShareRequest) => Promise<unknown>,
): (signal: AbortSignal) => AsyncGenerator<Output> {
  const shares = splitPages(pages, size);

  return async function* (signal) {
    const stop = new AbortController();
    const finished = new Map(pages.map((page) => [page, Promise.withResolvers<Output>()]));
    const onDrawn = ({ page, path }: Drawn) => finished.get(page)?.resolve({ page, path });
    const waiting = [...shares];
    const draw = (share: readonly number[]) =>
      withAnySignal([signal, stop.signal], (either) => run(share, { signal: either, onDrawn }));
    const work = async () => {
      for (let share = waiting.shift(); share; share = waiting.shift()) await draw(share);
    };
    const workers = Array.from({ length: Math.min(size, shares.length) }, work);
    // Once all shares are drawn, a page without a file will never get one.
    const failed = Promise.all(workers).then(() => {
      throw new ConversionError('CONVERSION_FAILED');
    });
    failed.catch(() => {});
    try {
      for (const page of pages) yield await Promise.race([finished.get(page)!.promise, failed]);
    } finally {
      stop.abort();
      waiting.length = 0;
      await Promise.allSettled(workers);
    }
  };
}

/** Splits pages into shares of consecutive pages, small enough that the last ones finish at about the same time. */
export function splitPages(pages: readonly number[], size: number): number[][] {
  const share = Math.max(1, Math.min(PAGES_PER_SHARE, Math.ceil(pages.length / (size * 4))));
  const shares = Math.ceil(pages.length / share);
  return Array.from({ length: shares }, (_, index) => pages.slice(index * share, (index + 1) * share));
}
