import { fileURLToPath } from 'node:url';
import type { WorkerPool } from '../../worker/pool.ts';
import { type ScriptDependencies, sandboxedPool, withoutObserver } from '../../worker/sandbox.ts';
import type { Drawing, PageFrame } from '../drawing.ts';
import type { RasterImage } from '../options.ts';
import type { Image } from '../pdfium.ts';

/** Timeout for one page, in milliseconds. */
const PAGE_TIME = 30_000;
const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** The PDF file of a request, and its password if it has one. */
export interface PdfFile {
  readonly source: string;
  readonly password: string | undefined;
  readonly maxPixels: number;
}

/** The operations of the fallback process and their arguments; see `worker.ts`. */
export interface FallbackOperations {
  readonly open: PdfFile & { readonly from: number; readonly to: number };
  /** Writes the page's pixels, row by row, to `target`. */
  readonly draw: PdfFile & {
    readonly frame: PageFrame;
    readonly drawing: Drawing;
    readonly target: string;
  };
  /** Writes the text of pages in PDFium's layout, without form fields. */
  readonly text: PdfFile & {
    readonly pages: readonly number[];
    readonly target: string;
    /** Whether the text begins with a byte order mark. */
    readonly mark: boolean;
  };
  /** Writes the pixels in `raster` as an image. */
  readonly encode: {
    readonly raster: string;
    readonly image: Image;
    readonly format: RasterImage;
    readonly quality: number;
    readonly density: PageFrame['density'];
    readonly target: string;
  };
}

/**
 * pdf.js, for documents and pages that PDFium cannot open or draw, and libvips, for formats that the native process
 * cannot write. Both run in Node processes, which start on the first request.
 */
export type Fallback = Pick<WorkerPool, 'run' | 'close'>;

/** Creates up to `size` fallback processes. The layers `pdfjs`, `image`, `fonts` and `sandbox` must be present. */
export function createFallback(dependencies: ScriptDependencies, script = SCRIPT): Fallback {
  const times = { stall: PAGE_TIME, page: PAGE_TIME };
  const limits = { heap: 1024, requests: 500, cost: 90, memory: 700, maxMemory: 2000 };
  return sandboxedPool(withoutObserver(dependencies), { script, times, ...limits });
}
