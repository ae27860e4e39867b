import { fileURLToPath } from 'node:url';
import type { EngineDependencies } from '../../../shared/tool.ts';
import { WorkerPool, type WorkerRequest } from '../../worker/pool.ts';
import { sandboxedNode } from '../../worker/sandbox.ts';
import type { Drawing, Encoding, PageFrame, PdfSource } from '../pdfium/drawing.ts';
import type { ImageEvent, Opened } from '../pdfium/pdfium.ts';
import { withStallTimeout } from '../stall-timeout.ts';

/** Milliseconds for one page. */
const PAGE_TIME = 30_000;
const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** A request to the fallback process; see `fallback/worker.ts`. */
export type FallbackRequest =
  | {
      readonly kind: 'open';
      readonly source: PdfSource;
      readonly from: number;
      readonly to: number;
      readonly maxPixels: number;
    }
  /** Writes the page's pixels, row by row, to `target`. */
  | {
      readonly kind: 'draw';
      readonly source: PdfSource;
      readonly frame: PageFrame;
      readonly drawing: Drawing;
      readonly target: string;
      readonly maxPixels: number;
    }
  /** Writes pixels in `raster` as an image. */
  | {
      readonly kind: 'encode';
      readonly raster: string;
      readonly image: ImageEvent;
      readonly encoding: Encoding;
      readonly density: PageFrame['density'];
      readonly target: string;
    };

/**
 * pdf.js, for documents and pages that PDFium cannot open or draw, and libvips, for formats that the native process cannot
 * write. Both run in Node processes, which start on the first request.
 */
export interface Fallback {
  run<Result = Opened>(work: FallbackRequest, request: WorkerRequest): Promise<Result>;
  close(): Promise<void>;
}

/** Creates up to `size` fallback processes. The layers `pdfjs`, `image`, `fonts` and `sandbox` must be present. */
export function createFallback(
  dependencies: Pick<EngineDependencies, 'layers' | 'code' | 'temporary' | 'launcher' | 'size' | 'sandbox'>,
  script = SCRIPT,
): Fallback {
  const { temporary, launcher, size } = dependencies;
  let processes: WorkerPool | undefined;

  function run<Result>(work: FallbackRequest, request: WorkerRequest): Promise<Result> {
    processes ??= new WorkerPool(sandboxedNode(dependencies, ['--max-old-space-size=1024', script]), {
      temporary,
      launcher,
      size,
      requests: 500,
      memory: 700,
      maxMemory: 2000,
    });
    const pool = processes;
    return withStallTimeout(request, { stall: PAGE_TIME, page: PAGE_TIME }, (bounded) =>
      pool.run<Result>(work, bounded),
    );
  }

  return {
    run,
    close: async () => {
      await processes?.close();
    },
  };
}
