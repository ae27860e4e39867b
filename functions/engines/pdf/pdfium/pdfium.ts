import { join, resolve } from 'node:path';
import type { Size } from '../../../shared/options/parameters.ts';
import type { EngineDependencies } from '../../../shared/tool.ts';
import { nativeEngine } from '../../worker/native.ts';
import { WorkerPool, type WorkerRequest } from '../../worker/pool.ts';
import { type StallTimes, withStallTimeout } from '../stall-timeout.ts';
import type { Drawing, Encoding, PageFrame, PdfSource } from './drawing.ts';

/** Timeouts in milliseconds without any progress, and for one page in total. PDFium never finishes some documents. */
const TIMES: StallTimes = { stall: 10_000, page: 30_000 };

/** Names of the host's messages; see `layers/pdf/pdfium/`. */
type HostEvent = {
  readonly page?: number;
  readonly width?: number;
  readonly height?: number;
  readonly channels?: 1 | 3 | 4;
  /** Empty until the file is complete. */
  readonly path?: string;
};

export interface Opened {
  readonly pageCount: number;
  /** Sizes of the requested pages in points, as displayed. 0 x 0 if the engine does not know. */
  readonly sizes: readonly Size[];
}

/**
 * Pages that were not drawn: PDFium failed, or drew nothing although the page has content, or would draw a
 * picture wrong.
 */
export interface Undrawn {
  readonly failed: readonly number[];
  readonly empty: readonly number[];
}

/** A page that another engine has drawn, or that may stay empty. */
export type Substitute = 'raster' | 'empty';

/** What one call draws, and where. */
export interface DrawRequest {
  /** Undefined if every frame is a raster. */
  readonly source: PdfSource | undefined;
  readonly frames: readonly PageFrame[];
  readonly substitutes: ReadonlyMap<number, Substitute>;
  readonly drawing: Drawing;
  readonly encoding: Encoding;
  /**
   * Directory of the conversion, in which images are `page-1.png` and so on. Its files `raster-1` … are
   * `raster` substitutes.
   */
  readonly directory: string;
  /** The extension of the files: the format, or `raw`. */
  readonly extension: string;
  /** All pages in one file, `pages.png`: stacked, or as the pages of a TIFF. */
  readonly oneFile: boolean;
}

/** What one call writes the text of, and where. */
export interface TextRequest {
  readonly pages: readonly number[];
  /** Include form fields and what else annotations display. */
  readonly annotations: boolean;
  readonly target: string;
}

export type ImageEvent = Required<HostEvent>;

/** PDFium in native processes that draw and encode. Each keeps its last document open for the next request. */
export interface Pdfium {
  open(source: PdfSource, range: { from: number; to: number }, request: WorkerRequest): Promise<Opened>;
  draw(what: DrawRequest, request: WorkerRequest, onImage?: (image: ImageEvent) => void): Promise<Undrawn>;
  /** Writes the text of pages to a file. */
  readText(source: PdfSource, what: TextRequest, request: WorkerRequest): Promise<void>;
  warm(): Promise<void>;
  close(): Promise<void>;
}

/** Creates up to `size` PDFium processes. The layers `pdf` and `fonts` must be present. */
export function createPdfium(
  dependencies: Pick<
    EngineDependencies,
    'layers' | 'temporary' | 'launcher' | 'size' | 'sandbox' | 'observer'
  >,
  times = TIMES,
): Pdfium {
  const { layers, temporary, launcher, size, observer } = dependencies;
  const args = [resolve(join(layers, 'fonts/faces'))];
  const processes = new WorkerPool(nativeEngine(dependencies, 'pdfium', { layers: ['fonts'], args }), {
    temporary,
    launcher,
    size,
    observer,
    requests: 500,
    memory: 400,
    maxMemory: 2000,
  });
  const run = <Result>(work: object, request: WorkerRequest) =>
    withStallTimeout(request, times, (bounded) => processes.run<Result>(work, bounded));

  async function open(source: PdfSource, { from, to }: { from: number; to: number }, request: WorkerRequest) {
    const opened = await run<{ pageCount: number; sizes: ReadonlyArray<readonly [number, number]> }>(
      { kind: 'open', ...sourceMembers(source), from, to },
      request,
    );
    const sizes = opened.sizes.map(([width, height]) => ({ width, height }));
    return { pageCount: opened.pageCount, sizes };
  }

  function draw(what: DrawRequest, request: WorkerRequest, onImage?: (image: ImageEvent) => void) {
    const { source, frames, substitutes, drawing, encoding, directory, extension, oneFile } = what;
    const onEvent = (event: unknown) => {
      request.onEvent?.(event);
      if ((event as HostEvent).page !== undefined) onImage?.(event as ImageEvent);
    };
    const work = {
      kind: 'draw',
      ...(source && sourceMembers(source)),
      pages: frames.map((frame) => frameNumbers(frame, substitutes.get(frame.number))).join(';'),
      directory,
      // Names the files, so that the process gets them.
      rasters: [...substitutes.keys()].map((page) => join(directory, `raster-${page}`)),
      stacked: Number(oneFile),
      format: extension,
      quality: encoding.quality,
      color: drawing.color,
      transparent: Number(drawing.transparent),
      annotations: Number(drawing.annotations),
      trim: Number(drawing.trim),
      turns: drawing.rotate / 90,
    };
    return run<Undrawn>(work, { ...request, onEvent });
  }

  return {
    open,
    draw,
    readText: async (source, { pages, annotations, target }, request) => {
      const what = { pages: pages.join(' '), annotations: Number(annotations), target };
      await run({ kind: 'text', ...sourceMembers(source), ...what }, request);
    },
    warm: () => processes.warm(),
    close: () => processes.close(),
  };
}

function sourceMembers({ id, path, password, cropBox }: PdfSource): object {
  return { id, source: path, cropBox: Number(cropBox), ...(password && { password }) };
}

function frameNumbers(frame: PageFrame, substitute: Substitute | undefined): string {
  const { number, page, left, top, width, height, density } = frame;
  const other = substitute === 'raster' ? 1 : substitute === 'empty' ? 2 : 0;
  return [number, page.width, page.height, left, top, width, height, other, ...density].join(' ');
}
