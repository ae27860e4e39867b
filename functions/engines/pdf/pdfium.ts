import { relative, resolve } from 'node:path';
import type { DetailsOf } from '../../shared/errors.ts';
import type { Size } from '../../shared/options/geometry.ts';
import { type StallTimeouts, WorkerPool, type WorkerRequest } from '../worker/pool.ts';
import { nativeEngine, type ProgramDependencies } from '../worker/sandbox.ts';
import {
  type Drawing,
  type Encoding,
  imageName,
  type PageFrame,
  type PdfSource,
  rasterName,
} from './drawing.ts';
import { damagedMessage, PASSWORD_MESSAGES } from './options.ts';

/** Timeouts in milliseconds: without any progress, and per page. PDFium never finishes some documents. */
const TIMES: StallTimeouts = { stall: 10_000, page: 30_000 };

/** Messages for the error codes of the engine; see `layers/pdf/pdfium/`. */
const MESSAGES = {
  UNSUPPORTED_SOURCE: ({ needsCertificate }: DetailsOf<'UNSUPPORTED_SOURCE'>) =>
    needsCertificate
      ? 'The document is encrypted for the owners of certificates. Save it without encryption, or with a password.'
      : 'The source is not a PDF document.',
  ...PASSWORD_MESSAGES,
  CORRUPT_SOURCE: () => damagedMessage(),
  SOURCE_TOO_LARGE: ({ width, height, max }: DetailsOf<'SOURCE_TOO_LARGE'>) =>
    width === undefined
      ? 'The document needs more memory than allowed.'
      : `The document contains an image of ${width}x${height} pixels. The maximum is ${max} in total.`,
};

export interface Opened {
  readonly pageCount: number;
  /** Sizes of the requested pages in points, as displayed. 0 x 0 if the engine cannot tell. */
  readonly sizes: readonly Size[];
  /** Whether fonts may not be embedded although the codes of their texts are glyph numbers. */
  readonly foreignGlyphs?: boolean;
  /** Whether layers may be hidden. */
  readonly hiddenLayers?: boolean;
  /** Whether the units of pages may not be points, which PDFium ignores. */
  readonly userUnits?: boolean;
  /** Whether annotations may be lines or polygons, which PDFium does not draw. */
  readonly bareLines?: boolean;
  /** Whether there may be bookmarks, links or named destinations. */
  readonly hasLinks?: boolean;
  /** Whether it is signed, and whether it claims to be PDF/A; see `Marks`. */
  readonly isSigned?: boolean;
  readonly isArchive?: boolean;
}

/** Pages that were not drawn. */
export interface DrawFailures {
  readonly failed: readonly number[];
  /** PDFium drew nothing although the page has content, or would draw a picture wrong. */
  readonly doubtful: readonly number[];
}

/** Replaces a page that PDFium failed on: by another engine's pixels, or by whatever PDFium draws, even nothing. */
export type Substitute = 'raster' | 'mayBeEmpty';

/** Draws frames of pages into files. */
export interface DrawRequest {
  /** Undefined if every frame is a raster. */
  readonly source: PdfSource | undefined;
  readonly frames: readonly PageFrame[];
  /** The file of a `raster` is `raster-1` and so on, in the directory of the conversion. */
  readonly substitutes: ReadonlyMap<number, Substitute>;
  readonly drawing: Drawing;
  readonly encoding: Encoding;
  /** The extension of the files: the format, or `raw`. Images are `page-1.png` and so on. */
  readonly extension: string;
  /** Whether all pages go into one file, `pages.png`: stacked, or as the pages of a TIFF. */
  readonly oneFile: boolean;
}

/** Writes the text of pages into a file. */
interface TextRequest {
  readonly pages: readonly number[];
  /** Whether to include form fields and other text that annotations display. */
  readonly annotations: boolean;
  /** Whether columns stay below each other. */
  readonly layout: boolean;
  /** Whether the text begins with a byte order mark. */
  readonly mark: boolean;
  readonly target: string;
}

/** A finished image. */
export interface Image {
  /** Page number, or 0 if the image contains several pages. */
  readonly page: number;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3 | 4;
}

/** PDFium in native processes that draw and encode. Each keeps its last document open for the next request. */
export interface Pdfium {
  open(source: PdfSource, range: { from: number; to: number }, request: WorkerRequest): Promise<Opened>;
  draw(
    drawRequest: DrawRequest,
    request: WorkerRequest,
    onImage?: (image: Image) => void,
  ): Promise<DrawFailures>;
  /** Writes the text of pages to a file. Returns the first page that PDFium cannot read, or 0 if the file is complete. */
  readText(source: PdfSource, textRequest: TextRequest, request: WorkerRequest): Promise<number>;
  /** Writes a document without encryption. PDFium opens some that qpdf cannot read. */
  save(source: PdfSource, target: string, request: WorkerRequest): Promise<void>;
  warm(): Promise<void>;
  close(): Promise<void>;
}

/** Creates up to `size` PDFium processes. The layers `pdf` and `fonts` must be present. */
export function createPdfium(dependencies: ProgramDependencies, times = TIMES): Pdfium {
  const faces = resolve(dependencies.layers, 'fonts/faces');
  const command = nativeEngine(dependencies, {
    layer: 'pdf',
    program: 'pdfium',
    reads: ['fonts'],
    args: () => [faces],
  });
  const limits = { requests: 500, cost: 10, memory: 400, maxMemory: 2000 };
  const client = new WorkerPool(command, { ...dependencies, ...limits, times, messages: MESSAGES });

  async function open(source: PdfSource, { from, to }: { from: number; to: number }, request: WorkerRequest) {
    const { args, inputs } = sourceOf(source, request);
    const opened = await client.run<
      Omit<Opened, 'sizes'> & { readonly sizes: ReadonlyArray<readonly [number, number]> }
    >({ operation: 'open', arguments: { ...args, from, to }, inputs }, request);
    return { ...opened, sizes: opened.sizes.map(([width, height]) => ({ width, height })) };
  }

  function draw(drawRequest: DrawRequest, request: WorkerRequest, onImage?: (image: Image) => void) {
    const { source, frames, substitutes, drawing, encoding, extension, oneFile } = drawRequest;
    const { args, inputs } = source ? sourceOf(source, request) : { args: {}, inputs: [] };
    const rasters = [...substitutes].flatMap(([page, other]) =>
      other === 'raster' ? [rasterName(page)] : [],
    );
    const pages = oneFile ? (['all'] as const) : frames.map(({ number }) => number);
    return client.run<DrawFailures>(
      {
        operation: 'draw',
        arguments: {
          ...args,
          frames: frames.map((frame) => frameOf(frame, substitutes.get(frame.number))),
          oneFile,
          format: extension,
          quality: encoding.quality,
          color: drawing.color,
          transparent: drawing.transparent,
          annotations: drawing.annotations,
          trim: drawing.trim,
          turns: drawing.rotate / 90,
        },
        inputs: [...inputs, ...rasters],
        outputs: pages.map((page) => imageName(page, extension)),
      },
      {
        ...request,
        onOutput: ({ name: _, ...image }) => onImage?.(image as unknown as Image),
      },
    );
  }

  async function readText(source: PdfSource, textRequest: TextRequest, request: WorkerRequest) {
    const { args, inputs } = sourceOf(source, request);
    const target = relative(request.directory, textRequest.target);
    const { pages, annotations, layout, mark } = textRequest;
    const text = { ...args, pages, annotations, layout, mark, target };
    const work = { operation: 'text', arguments: text, inputs, outputs: [target] };
    return (await client.run<{ failed: number }>(work, request)).failed;
  }

  async function save(source: PdfSource, target: string, request: WorkerRequest) {
    const { args, inputs } = sourceOf(source, request);
    const name = relative(request.directory, target);
    const work = { operation: 'save', arguments: { ...args, target: name }, inputs, outputs: [name] };
    await client.run<object>(work, request);
  }

  return { open, draw, readText, save, warm: () => client.warm(), close: () => client.close() };
}

function sourceOf({ id, path, password, cropBox }: PdfSource, { directory }: WorkerRequest) {
  const source = relative(directory, path);
  return { args: { document: id, source, cropBox, ...(password && { password }) }, inputs: [source] };
}

function frameOf(frame: PageFrame, substitute: Substitute | undefined): object {
  const { number, page, left, top, width, height, density } = frame;
  const [xDensity, yDensity] = density;
  const whole = { pageWidth: page.width, pageHeight: page.height };
  return { page: number, ...whole, left, top, width, height, xDensity, yDensity, substitute };
}
