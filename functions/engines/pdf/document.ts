import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import type { Size } from '../../shared/options/geometry.ts';
import type { WorkerRequest } from '../worker/pool.ts';
import { WorkerCrash } from '../worker/process.ts';
import {
  type Drawing,
  type Drawn,
  type Encoding,
  imageName,
  type PageFrame,
  type PdfSource,
  rasterName,
} from './drawing.ts';
import { damagedMessage, isRasterImage, PASSWORD_MESSAGES } from './options.ts';
import type { DrawFailures, DrawRequest, Image, Opened, Pdfium, Substitute } from './pdfium.ts';
import type { Fallback } from './pdfjs/fallback.ts';

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
  /** Tells what PDFium may read wrongly, and what a rewritten document may lose. */
  readonly survey: Omit<Opened, 'pageCount' | 'sizes'>;
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
function isCrash(thrown: unknown): boolean {
  return thrown instanceof ConversionError && thrown.cause instanceof WorkerCrash && !thrown.cause.atStart;
}

export function damagedPageError(page: number, cause?: unknown): ConversionError {
  return new ConversionError('CORRUPT_SOURCE', damagedMessage(`Page ${page} of the document`), { cause });
}

export interface DrawOptions {
  readonly drawing: Drawing;
  readonly encoding: Encoding;
  /** Directory of the conversion. */
  readonly directory: string;
  /** All pages in one file. */
  readonly oneFile: boolean;
  readonly maxPixels: number;
}

/** Draws frames of one document with PDFium, or with pdf.js where PDFium fails. */
export async function drawFrames(
  engines: Engines,
  document: PdfDocument,
  frames: readonly PageFrame[],
  options: DrawOptions,
  request: WorkerRequest,
  onDrawn: (drawn: Drawn) => void,
): Promise<void> {
  // Raw pixels take a lot of disk space, so only one image at a time is drawn and encoded.
  const onePageAtATime =
    !options.oneFile && (isRasterImage(options.encoding.format) || document.fallbackOnly);
  for (const some of onePageAtATime ? frames.map((frame) => [frame]) : [frames]) {
    await new FrameDrawer(engines, document, options, request, onDrawn).draw(some);
  }
}

class FrameDrawer {
  readonly #substitutes = new Map<number, Substitute>();
  readonly #finished = new Set<number>();
  readonly #images: Image[] = [];
  /** Number of leading frames that PDFium finished in the last attempt. */
  #done = 0;
  readonly #writesRaw: boolean;
  readonly #engines: Engines;
  readonly #document: PdfDocument;
  readonly #options: DrawOptions;
  readonly #request: WorkerRequest;
  readonly #onDrawn: (drawn: Drawn) => void;

  constructor(
    engines: Engines,
    document: PdfDocument,
    options: DrawOptions,
    request: WorkerRequest,
    onDrawn: (drawn: Drawn) => void,
  ) {
    this.#engines = engines;
    this.#document = document;
    this.#options = options;
    this.#request = request;
    this.#onDrawn = onDrawn;
    this.#writesRaw = isRasterImage(options.encoding.format);
  }

  async draw(frames: readonly PageFrame[]): Promise<void> {
    if (this.#document.fallbackOnly)
      await this.#substitute(
        frames.map(({ number }) => number),
        frames,
        'failed',
      );
    for (let rest = frames; rest.length > 0; ) {
      const { failed, doubtful } = await this.#attempt(rest);
      if (failed.length + doubtful.length === 0) break;
      await this.#substitute(failed, frames, 'failed');
      await this.#substitute(doubtful, frames, 'doubtful');
      if (!this.#options.oneFile) rest = rest.filter(({ number }) => !this.#finished.has(number));
    }
    for (const number of this.#substitutes.keys())
      await rm(join(this.#options.directory, rasterName(number)), { force: true });
    for (const image of this.#images) await this.#encode(image, frames);
  }

  /** Draws once. A crash counts as a failure of the first page that was not finished. */
  async #attempt(frames: readonly PageFrame[]): Promise<DrawFailures> {
    const { drawing, encoding, oneFile } = this.#options;
    const drawRequest: DrawRequest = {
      source: this.#document.fallbackOnly ? undefined : this.#document.source,
      frames,
      substitutes: this.#substitutes,
      drawing,
      encoding,
      extension: this.#writesRaw ? 'raw' : encoding.format,
      oneFile,
    };
    try {
      this.#done = 0;
      const onHeartbeat = (done: number) => {
        this.#done = done;
      };
      const request = { ...this.#request, onHeartbeat };
      return await this.#engines.pdfium.draw(drawRequest, request, (image) => this.#onImage(image));
    } catch (thrown) {
      const open = frames.filter(
        ({ number }) => !this.#finished.has(number) && !this.#substitutes.has(number),
      );
      // With several pages in one file, it is unknown which of the others failed.
      const culprits = oneFile
        ? open.filter((frame) => frames.indexOf(frame) >= this.#done)
        : open.slice(0, 1);
      if (!isCrash(thrown) || culprits.length === 0) throw thrown;
      return { failed: culprits.map(({ number }) => number), doubtful: [] };
    }
  }

  #onImage(image: Image): void {
    // After a crash, pages that were already finished may be drawn again.
    if (this.#finished.has(image.page)) return;
    this.#finished.add(image.page);
    if (this.#writesRaw) {
      this.#images.push(image);
      return;
    }
    this.#onDrawn({ page: image.page, path: this.#pathOf(image.page) });
  }

  #nameOf(page: number, extension: string = this.#options.encoding.format): string {
    return imageName(this.#options.oneFile ? 'all' : page, extension);
  }

  #pathOf(page: number): string {
    return join(this.#options.directory, this.#nameOf(page));
  }

  /** Draws pages with pdf.js. A page that it cannot draw either stays empty or fails the conversion. */
  async #substitute(
    pages: readonly number[],
    frames: readonly PageFrame[],
    state: 'failed' | 'doubtful',
  ): Promise<void> {
    const { fallback } = this.#engines;
    const { drawing, maxPixels } = this.#options;
    for (const page of new Set(pages)) {
      const frame = frames.find(({ number }) => number === page);
      // A compromised engine could report any page, any number of times.
      if (!frame || this.#substitutes.get(page) === 'mayBeEmpty') throw damagedPageError(page);
      const target = rasterName(page);
      try {
        if (!fallback || this.#substitutes.has(page)) throw damagedPageError(page);
        const { path, password } = this.#document.source;
        const source = relative(this.#options.directory, path);
        const args = { source, password, frame, drawing, target, maxPixels };
        const files = { inputs: [source], outputs: [target] };
        await fallback.run({ operation: 'draw', arguments: args, ...files }, this.#request);
        this.#substitutes.set(page, 'raster');
      } catch (thrown) {
        this.#request.signal.throwIfAborted();
        if (state === 'failed') throw damagedPageError(page, thrown);
        this.#substitutes.set(page, 'mayBeEmpty');
      }
    }
  }

  async #encode(image: Image, frames: readonly PageFrame[]): Promise<void> {
    const { fallback } = this.#engines;
    const { format, quality } = this.#options.encoding;
    const [raster, target] = [this.#nameOf(image.page, 'raw'), this.#nameOf(image.page)];
    if (!fallback || !isRasterImage(format)) throw new Error(`No encoder for ${format}.`);
    // Several pages in one image have the resolution of the first.
    const { density } = frames.find(({ number }) => number === image.page) ?? frames[0]!;
    const args = { raster, image, format, quality, density, target };
    const files = { inputs: [raster], outputs: [target] };
    await fallback.run({ operation: 'encode', arguments: args, ...files }, this.#request);
    await rm(join(this.#options.directory, raster));
    this.#onDrawn({ page: image.page, path: this.#pathOf(image.page) });
  }
}
