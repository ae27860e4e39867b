import { randomUUID } from 'node:crypto';
import { relative } from 'node:path';
import { ConversionError } from '../../../shared/errors.ts';
import type { Size } from '../../../shared/options/geometry.ts';
import type { WorkerRequest } from '../../worker/pool.ts';
import { WorkerCrash } from '../../worker/process.ts';
import { damagedMessage, PASSWORD_MESSAGES } from '../messages.ts';
import type { Fallback } from '../pdfjs/fallback.ts';
import type { PdfSource } from './drawing.ts';
import type { Opened, Pdfium } from './pdfium.ts';

export interface Engines {
  readonly pdfium: Pdfium;
  readonly fallback: Fallback | undefined;
}

/** An open document, independent of the engine that can open it. */
export interface PdfDocument {
  readonly source: PdfSource;
  /** Whether PDFium cannot open it. */
  readonly fallbackOnly: boolean;
  readonly pageCount: number;
  /** Tells what PDFium may read wrongly. */
  readonly survey: Pick<Opened, 'foreignGlyphs' | 'hiddenLayers' | 'userUnits'>;
  /** Size of a page in points, as displayed. The page must be in the range that was opened. */
  sizeOf(page: number): Promise<Size>;
}

interface OpenRequest extends WorkerRequest {
  readonly maxPixels: number;
  /** Pages whose sizes are needed. */
  readonly range: { readonly from: number; readonly to: number };
}

/**
 * Opens a document with PDFium or, if that fails, with pdf.js. Tries each password in turn.
 * @throws ConversionError `UNSUPPORTED_SOURCE`, `PASSWORD_REQUIRED`, `WRONG_PASSWORD`, `CORRUPT_SOURCE`, `TIMED_OUT`
 */
export async function openDocument(
  { pdfium, fallback }: Engines,
  source: Omit<PdfSource, 'id' | 'password'>,
  passwords: readonly string[],
  request: OpenRequest,
): Promise<PdfDocument> {
  const failures: ConversionError[] = [];
  for (const password of passwords.length > 0 ? passwords : [undefined]) {
    const sourceWithPassword = { ...source, id: randomUUID(), password };
    const opened = await attempt(() => pdfium.open(sourceWithPassword, request.range, request));
    if (!(opened instanceof ConversionError)) return describe(sourceWithPassword, opened, false);
    failures.push(opened);
    if (opened.code === 'UNSUPPORTED_SOURCE') break;

    const other = fallback && (await attempt(() => openWith(fallback, sourceWithPassword)));
    if (other && !(other instanceof ConversionError)) return describe(sourceWithPassword, other, true);
    if (other) failures.push(other);
  }
  throw failures.find(({ code }) => Object.hasOwn(PASSWORD_MESSAGES, code)) ?? failures[0]!;

  function openWith(other: Fallback, { path, password }: PdfSource) {
    const { range, maxPixels } = request;
    const source = relative(request.directory, path);
    const args = { source, password, ...range, maxPixels };
    return other.run<Opened>({ operation: 'open', arguments: args, inputs: [source] }, request);
  }

  function describe(
    source: PdfSource,
    { pageCount, sizes, ...survey }: Opened,
    fallbackOnly: boolean,
  ): PdfDocument {
    const { from } = request.range;
    let others: Promise<Opened> | undefined;

    async function sizeOf(page: number): Promise<Size> {
      const size = sizes[page - from];
      if (size && size.width > 0) return size;
      if (!fallback || fallbackOnly) throw damagedPageError(page);
      others ??= openWith(fallback, source);
      const other = (await others.catch(() => undefined))?.sizes[page - from];
      if (!other?.width) throw damagedPageError(page);
      return other;
    }

    return { source, fallbackOnly, pageCount, survey, sizeOf };
  }
}

/** Returns the document or the engine's error about it. Other errors end the conversion. */
async function attempt(open: () => Promise<Opened>): Promise<Opened | ConversionError> {
  try {
    return await open();
  } catch (thrown) {
    if (!(thrown instanceof ConversionError)) throw thrown;
    const aboutDocument = ['UNSUPPORTED_SOURCE', 'CORRUPT_SOURCE', 'PASSWORD_REQUIRED', 'WRONG_PASSWORD'];
    if (aboutDocument.includes(thrown.code)) return thrown;
    if (!isCrash(thrown)) throw thrown;
    return new ConversionError('CORRUPT_SOURCE', damagedMessage(), { cause: thrown });
  }
}

/** Whether an engine crashed on a source that another engine may be able to open or draw. */
export function isCrash(thrown: unknown): boolean {
  return thrown instanceof ConversionError && thrown.cause instanceof WorkerCrash && !thrown.cause.atStart;
}

export function damagedPageError(page: number, cause?: unknown): ConversionError {
  return new ConversionError('CORRUPT_SOURCE', damagedMessage(`Page ${page} of the document`), { cause });
}
