import { ConversionError } from '../../shared/errors.ts';
import type { PdftoolsRequest } from '../request.ts';
import { type Drawing, type PdfDocument, PdfFailure, type Raster } from './document.ts';
import { openWithPdfium } from './pdfium.ts';
import { openWithPdfjs } from './pdfjs.ts';

/** A PDF opened by one engine, with the other at hand for the pages it fails on. */
export type Source = PdfDocument;

/**
 * Opens a source with PDFium, else with pdf.js.
 * @throws ConversionError `UNSUPPORTED_SOURCE`, `PASSWORD_REQUIRED`, `WRONG_PASSWORD`, `CORRUPT_SOURCE`, `SOURCE_TOO_LARGE`
 */
export async function openSource(bytes: Uint8Array, request: PdftoolsRequest): Promise<Source> {
  if (!looksLikePdf(bytes)) {
    throw new ConversionError('UNSUPPORTED_SOURCE', 'The source is not a PDF document.');
  }
  const { userPassword, ownerPassword } = request.options;
  const passwords = [userPassword, ownerPassword].filter((password) => password !== undefined);
  const document = await openFirst(bytes, passwords.length > 0 ? passwords : [''], request);
  if (document.pageCount > request.limits.pages) {
    const message = `The document has ${document.pageCount} pages, more than ${request.limits.pages}.`;
    throw new ConversionError('SOURCE_TOO_LARGE', message);
  }
  if (document.pageCount < 1) throw damaged();
  return document;
}

/** Readers take up to 1024 bytes of junk before the header; damaged files may have lost it. */
function looksLikePdf(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 1030)).toString('latin1');
  return start.includes('%PDF-');
}

async function openFirst(
  bytes: Uint8Array,
  passwords: readonly string[],
  request: PdftoolsRequest,
): Promise<Source> {
  const mediaBox = !request.options.cropBox;
  const maxPixels = request.limits.pixels;
  const failures: unknown[] = [];
  for (const password of passwords) {
    const second = () => openWithPdfjs(bytes, password, { maxPixels });
    try {
      return withSecond(await openWithPdfium(bytes, password, { mediaBox }), second);
    } catch (thrown) {
      if (thrown instanceof ConversionError) throw thrown;
      failures.push(thrown);
    }
    try {
      return withSecond(await second());
    } catch (thrown) {
      failures.push(thrown);
    }
  }
  throw explain(failures, request);
}

function explain(failures: readonly unknown[], { options }: PdftoolsRequest): ConversionError {
  const locked = failures.some((failure) => failure instanceof PdfFailure && failure.reason === 'password');
  if (!locked) return damaged(failures);
  if (options.userPassword === undefined && options.ownerPassword === undefined) {
    return new ConversionError('PASSWORD_REQUIRED', "The document needs a password, parameter '-upw'.");
  }
  return new ConversionError('WRONG_PASSWORD', 'The password does not open the document.');
}

/** Draws with the first engine; a page it fails on is drawn by the second, which is opened when it is needed. */
function withSecond(first: PdfDocument, openSecond?: () => Promise<PdfDocument>): Source {
  let second: Promise<PdfDocument> | undefined;

  async function attempt<Value>(
    page: number,
    use: (document: PdfDocument) => Promise<Value>,
  ): Promise<Value> {
    try {
      return await use(first);
    } catch (failure) {
      // What is too large for one is not tried with the other.
      if (failure instanceof ConversionError) throw failure;
      if (!openSecond) throw damaged(failure, page);
      console.error(failure);
    }
    try {
      second ??= openSecond();
      return await use(await second);
    } catch (failure) {
      throw damaged(failure, page);
    }
  }

  /** What PDFium leaves empty, mostly for want of a font, pdf.js may show. */
  async function draw(page: number, drawing: Drawing): Promise<Raster> {
    const raster = await attempt(page, (document) => document.draw(page, drawing));
    if (!raster.empty || !openSecond) return raster;
    try {
      second ??= openSecond();
      return await (await second).draw(page, drawing);
    } catch {
      return raster;
    }
  }

  async function close(): Promise<void> {
    await first.close().catch(() => {});
    await second?.then((document) => document.close()).catch(() => {});
  }

  return {
    pageCount: first.pageCount,
    pageSize: (page: number) => attempt(page, (document) => document.pageSize(page)),
    draw,
    close,
  };
}

function damaged(cause?: unknown, page?: number): ConversionError {
  const what = page === undefined ? 'The document' : `Page ${page} of the document`;
  return new ConversionError('CORRUPT_SOURCE', `${what} is damaged beyond what can be shown.`, { cause });
}
