import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readersOf } from '../engines/choose-tool.ts';
import { INPUTS, type Input } from '../engines/office/inputs.ts';
import { createOffice } from '../engines/office/office.ts';
import { type Editable, moduleConflict, readEditable } from '../engines/office/outputs.ts';
import { createSources, type Document } from '../engines/office/sources.ts';
import { finishPdf } from '../engines/pdf/finish.ts';
import { ACCESSIBLE, encryptionOf, readStandard } from '../engines/pdf/finish-options.ts';
import { NOT_EDITABLE, type PdfOptions, pdfOptions } from '../engines/pdf/options.ts';
import { createPdfPrograms, Pdf } from '../engines/pdf/pdf.ts';
import { createPdfEngine } from '../engines/pdf/pdf-engine.ts';
import { ConversionError } from '../shared/errors.ts';
import { choosePages, selectsAll } from '../shared/options/page-selection.ts';
import { defaultsOf } from '../shared/options/read-options.ts';
import { readHead } from '../shared/source/file.ts';
import {
  type Conversion,
  type Converted,
  type Engine,
  type EngineDependencies,
  INFILE,
  type SourceFile,
  UnconvertedError,
} from '../shared/tool.ts';
import { withoutAbsent } from '../shared/without-absent.ts';
import type { Doc2anyOptions, doc2any } from './tool.ts';

const SIMPLIFIED =
  'Floating tables were moved into the text, or 3D effects removed, because LibreOffice needed too much time for them.';
const LEFT_OUT =
  'A part of the document in another format was left out because LibreOffice could not convert it.';
const UNFITTED =
  'The pages may differ from those in Word, because LibreOffice failed with the corrections for it.';

type Doc2anyConversion = Conversion<Doc2anyOptions, SourceFile>;

/** Creates the engine: LibreOffice, and the PDF engine for images. */
export function createEngine(dependencies: EngineDependencies): Engine<typeof doc2any> {
  const sources = createSources(dependencies);
  const office = createOffice(dependencies);
  const programs = createPdfPrograms(dependencies);
  const rasterize = createPdfEngine(programs, dependencies);

  /** Converts the given pages, or all of them, and checks that the result has pages. */
  async function toPdf(
    conversion: Doc2anyConversion,
    document: Document,
    pageRange: string | undefined,
    name = 'all',
  ) {
    const path = join(conversion.directory, `${name}.pdf`);
    const { shown, sheets } = await office.convert(document, { path, pageRange }, conversion);
    const pageCount = await sources.countPages(path, conversion);
    const pdf = new Pdf(programs, { path }, conversion);
    // LibreOffice makes a page of each sheet, even if it is hidden.
    if (conversion.options.fit === 'sheet' && pageCount === sheets && shown.length < sheets) {
      return { pdf: await pdf.edit({ pages: shown }), pageCount: shown.length, slides: [] };
    }
    if (pageCount > 0) return { pdf, pageCount, slides: sheets === 0 ? shown : [] };
    throw new ConversionError('CONVERSION_FAILED', 'LibreOffice produced no pages from the document.');
  }

  /**
   * Converts a document with the pages that Word recorded, unless LibreOffice's own come closer to their number. Returns what is
   * closer, and the document that gives it.
   */
  async function toClosestPdf(conversion: Doc2anyConversion, fitted: Document) {
    const bound = boundOf(conversion, fitted);
    const convertPlain = async (document: Document) => ({
      ...(await toPdf(conversion, document, bound, 'plain')),
      document,
    });
    const { pages: recorded } = fitted;
    if (recorded === undefined) return convertPlain(fitted);
    // Fitting may take more time than is allowed.
    const first = await toPdf(conversion, fitted, bound).catch(() => undefined);
    conversion.signal.throwIfAborted();
    if (!first) {
      const restored = await convertPlain(await sources.restore(fitted, conversion));
      return { ...restored, warnings: [UNFITTED] };
    }
    const closest = { ...first, document: fitted };
    if (recorded === 0 || first.pageCount === recorded) return closest;
    const second = await convertPlain({ ...fitted, pages: undefined });
    const distanceOf = ({ pageCount }: { pageCount: number }) => Math.abs(pageCount - recorded);
    return distanceOf(second) < distanceOf(first) ? second : closest;
  }

  /**
   * Encrypts a finished PDF, because LibreOffice's own export supports only 128-bit RC4, or checks and mends PDF/A: some
   * of LibreOffice's metadata are not valid.
   */
  async function finish(options: Doc2anyOptions, source: Pdf) {
    const version = readStandard(options.pdfVersion);
    const encryption = encryptionOf(options);
    const last = { version, force: version === ACCESSIBLE, encryption };
    const { pdf, warnings } = await finishPdf(source, {}, last);
    return { outputs: [{ path: pdf.path }], warnings };
  }

  /** Converts to an editable format. */
  async function toEditable(conversion: Doc2anyConversion, document: Document, format: Editable) {
    const conflict = moduleConflict(INPUTS[document.kind], format);
    if (conflict) throw conflict;
    const { directory, options } = conversion;
    const path = join(directory, `document.${format}`);
    const { sheets } = await office.save(document, { path, format }, conversion);
    if (format !== 'csv') return { outputs: [{ path }] };
    const { sheet = 1 } = options;
    if (sheet > sheets) {
      const count = sheets === 1 ? 'one sheet' : `${sheets} sheets`;
      throw new ConversionError(
        'PAGE_RANGE',
        `Parameter '--sheet' is ${sheet}, but the document has ${count}.`,
        { parameter: '--sheet' },
      );
    }
    // LibreOffice adds the name of the sheet.
    const named = (await readdir(directory)).find((name) => /^document-.*\.csv$/s.test(name));
    return { outputs: [{ path: named === undefined ? path : join(directory, named) }] };
  }

  /** Finishes a PDF, which another tool has made of an image. */
  async function convertPdf(conversion: Doc2anyConversion) {
    const { source, options } = conversion;
    const given = new Pdf(programs, source, conversion);
    const { isSigned, isEncrypted } = await given.marks();
    if (isSigned || isEncrypted)
      throw new ConversionError('UNSUPPORTED_SOURCE', 'The source is a signed or encrypted PDF document.', {
        parameter: INFILE,
      });
    if (options.watermark !== undefined || options.pdfVersion.startsWith('PDF/UA')) {
      const parameter = options.watermark === undefined ? '--pdf-version' : '--watermark';
      const message = `Parameter '${parameter}' has no effect on images and PDFs. Use app=pdftools for them.`;
      throw new ConversionError('BAD_PARAMETER', message, { parameter });
    }
    const { title: Title, author: Author, subject: Subject, keywords: Keywords } = options;
    const information = withoutAbsent({ Title, Author, Subject, Keywords });
    const { pdfVersion } = options;
    const minVersion = readStandard(pdfVersion) ? undefined : pdfVersion;
    const whole = await given.edit({ information, minVersion });
    const pageCount = whole.pageCount!;
    const pages = choosePages(options, pageCount, '--pages');
    const selected = pages ? await whole.edit({ pages }) : whole;
    return { pageCount, sourceKind: 'pdf', ...(await finish(options, selected)) };
  }

  /** Converts a document. If LibreOffice takes too long, tries once more without floating tables and 3D effects. */
  async function convert(conversion: Doc2anyConversion) {
    const { path, name, contentType } = conversion.source;
    const facts = { head: await readHead(path), name, contentType };
    const [reader] = readersOf(facts);
    const isPrinted = conversion.format === 'pdf';
    if (reader === 'pdftools' && isPrinted) return convertPdf(conversion);
    if (reader === 'pdftools' && readEditable(conversion.format))
      throw new ConversionError('UNSUPPORTED_CONVERSION', `The source is a PDF document. ${NOT_EDITABLE}`);
    if (reader === 'imageproc' && isPrinted) {
      const tool = readersOf(facts, 'pdf')[0]!;
      const message = `The source is an image. Convert it with app=${tool} first.`;
      throw new UnconvertedError(message, [{ parameter: INFILE, index: 0, tool }]);
    }
    const document = await sources.prepare(conversion);
    const left = await embedChunks(conversion, document);
    try {
      return withWarnings(left, await convertDocument(conversion, document));
    } catch (thrown) {
      if (!isEndless(thrown) || !(await sources.simplify(document, conversion))) throw thrown;
      const simple = { ...document, pages: undefined };
      return withWarnings([...left, SIMPLIFIED], await convertDocument(conversion, simple));
    }
  }

  /** Converts the documents in other formats inside a Word document. Returns a warning if that failed. */
  async function embedChunks(conversion: Doc2anyConversion, document: Document): Promise<readonly string[]> {
    const { chunks } = document;
    const files: string[] = [];
    for (const chunk of chunks.filter((each) => each !== undefined)) {
      const name = basename(chunk.path).replace(/\.\w+$/, '.docx');
      const path = join(conversion.directory, name);
      const saved = await office.save(chunk, { path, format: 'docx' }, conversion).catch(() => undefined);
      conversion.signal.throwIfAborted();
      if (saved) files.push(name);
    }
    if (files.length > 0) await sources.embed(document, files, conversion);
    return files.length < chunks.length ? [LEFT_OUT] : [];
  }

  async function convertDocument(conversion: Doc2anyConversion, source: Document) {
    const editable = readEditable(conversion.format);
    if (editable) return { ...(await toEditable(conversion, source, editable)), sourceKind: source.kind };
    const closest = await toClosestPdf(conversion, source);
    const { warnings = [], ...whole } = { warnings: undefined, ...closest };
    return withWarnings(warnings, await finishDocument(conversion, whole, source.kind));
  }

  async function finishDocument(
    conversion: Doc2anyConversion,
    { document, ...whole }: Omit<Awaited<ReturnType<typeof toClosestPdf>>, 'warnings'>,
    sourceKind: Input,
  ) {
    const { options, format, limits } = conversion;
    const { pageCount } = whole;
    if (pageCount > limits.pages) {
      throw new ConversionError('RESULT_TOO_LARGE', `The document has more than ${limits.pages} pages.`);
    }
    if (format !== 'pdf') {
      const pdf = { path: whole.pdf.path, name: '', contentType: 'application/pdf', bytes: 0 };
      const drawn = await rasterize.convert({ ...conversion, source: pdf, options: drawingOptions(options) });
      return { ...drawn, sourceKind };
    }
    const pages = choosePages(options, pageCount, '--pages');
    if (!pages || selectsAll(pages, pageCount)) {
      return { pageCount, sourceKind, ...(await finish(options, whole.pdf)) };
    }
    // Page ranges count hidden slides.
    const slides = options.hiddenSlides ? [] : whole.slides;
    const range = pages.map((page) => slides[page - 1] ?? page).join(',');
    const selected = await toPdf(conversion, document, range, 'selected');
    return { pageCount, sourceKind, ...(await finish(options, selected.pdf)) };
  }

  return {
    convert,
    warm: async () => {
      await Promise.all([sources.warm(), office.warm()]);
    },
    close: async () => {
      await Promise.all([sources, office, programs].map((part) => part.close()));
    },
  };
}

function withWarnings(added: readonly string[], converted: Converted): Converted {
  const warnings = [...added, ...(converted.warnings ?? [])];
  return { ...converted, ...(warnings.length > 0 && { warnings }) };
}

/** Whether LibreOffice ran out of time for the layout. */
function isEndless(thrown: unknown): boolean {
  return thrown instanceof ConversionError && thrown.detailsOf('CONVERSION_FAILED').seconds !== undefined;
}

/** Returns how to draw the pages of the finished PDF, taking the caller's options where the PDF engine has them. */
function drawingOptions(options: Doc2anyOptions): PdfOptions {
  const { firstPage, lastPage, pages, resolution, width, height, resize, quality } = options;
  return {
    ...defaultsOf(pdfOptions),
    firstPage,
    lastPage,
    pages,
    resolution,
    width,
    height,
    resize,
    quality,
  };
}

/** Ends the export of a spreadsheet right after the page limit. A few cells far apart can produce millions of pages. */
function boundOf({ options, limits }: Doc2anyConversion, { kind }: Document): string | undefined {
  return INPUTS[kind] === 'calc' && options.fit !== 'sheet' ? `1-${limits.pages + 1}` : undefined;
}
