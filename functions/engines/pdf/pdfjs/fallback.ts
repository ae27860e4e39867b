import { fileURLToPath } from 'node:url';
import type { EngineDependencies } from '../../../shared/tool.ts';
import { EngineClient } from '../../client.ts';
import { sandboxedNode } from '../../worker/sandbox.ts';
import type { Drawing, Encoding, PageFrame } from '../pdfium/drawing.ts';
import type { Image } from '../pdfium/pdfium.ts';

/** Timeout for one page, in milliseconds. */
const PAGE_TIME = 30_000;
const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));

/** The document of a request, by the name of its file. */
export interface LockedFile {
  readonly source: string;
  readonly password: string | undefined;
  readonly maxPixels: number;
}

/** The operations of the fallback process and their arguments; see `worker.ts`. */
export interface FallbackOperations {
  readonly open: LockedFile & { readonly from: number; readonly to: number };
  /** Writes the page's pixels, row by row, to `target`. */
  readonly draw: LockedFile & {
    readonly frame: PageFrame;
    readonly drawing: Drawing;
    readonly target: string;
  };
  /** Writes the text of pages in PDFium's layout, without form fields. */
  readonly text: LockedFile & { readonly pages: readonly number[]; readonly target: string };
  /** Writes the pixels in `raster` as an image. */
  readonly encode: {
    readonly raster: string;
    readonly image: Image;
    readonly encoding: Encoding;
    readonly density: PageFrame['density'];
    readonly target: string;
  };
}

/**
 * pdf.js, for documents and pages that PDFium cannot open or draw, and libvips, for formats that the native process
 * cannot write. Both run in Node processes, which start on the first request.
 */
export type Fallback = Pick<EngineClient, 'run' | 'close'>;

/** Creates up to `size` fallback processes. The layers `pdfjs`, `image`, `fonts` and `sandbox` must be present. */
export function createFallback(
  dependencies: Pick<
    EngineDependencies,
    'layers' | 'code' | 'temporary' | 'launcher' | 'size' | 'sandbox' | 'singleAccount'
  >,
  script = SCRIPT,
): Fallback {
  const { temporary, launcher, size, singleAccount } = dependencies;
  const command = sandboxedNode(dependencies, ['--max-old-space-size=1024', script]);
  const times = { stall: PAGE_TIME, page: PAGE_TIME };
  const limits = { requests: 500, memory: 700, maxMemory: 2000 };
  // No observer, because the tool works without the fallback.
  return new EngineClient({ command, times, ...limits }, { temporary, launcher, size, singleAccount });
}
