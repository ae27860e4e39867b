import { ConversionError } from '../shared/errors.ts';
import type { Size } from '../shared/options/parameters.ts';
import type { OptionsOf } from '../shared/tool.ts';
import type { pdftools } from './tool.ts';

export type PdftoolsOptions = OptionsOf<typeof pdftools>;

/** Longest side of a whole page in pixels, of which a crop may select a part. Larger than a page of 50 m at 600 DPI. */
const MOST_PIXELS = 10_000_000;

/** How a page is drawn: the size of the whole page in pixels, and the requested part of it. */
export interface Frame {
  readonly page: Size;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/**
 * Computes the frame of a page of `points` (1/72 inch, with the document's rotation) from the size, rotation
 * and crop options.
 * @throws ConversionError `BAD_PARAMETER` if the crop is outside the page, `RESULT_TOO_LARGE` if the whole
 * page is too large even for a crop.
 */
export function framePage(points: Size, options: PdftoolsOptions): Frame {
  const page = pageSize(options.rotate % 180 === 0 ? points : rotated(points), options);
  // The engine's coordinates are 32-bit integers.
  if (!(Math.max(page.width, page.height) <= MOST_PIXELS)) {
    throw new ConversionError(
      'RESULT_TOO_LARGE',
      `The whole page would be ${page.width}x${page.height} pixels. The maximum is ${MOST_PIXELS} pixels per side.`,
    );
  }
  const { left = 0, top = 0 } = options;
  if (left >= page.width || top >= page.height) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameters '-x' and '-y' must be inside the page, which is ${page.width}x${page.height} pixels, got ${left} and ${top}.`,
    );
  }
  const width = Math.min(options.cropWidth || page.width, page.width - left);
  const height = Math.min(options.cropHeight || page.height, page.height - top);
  return { page, left, top, width, height };
}

/** Dots per inch across and down. */
export function resolutionOf(options: PdftoolsOptions): readonly [x: number, y: number] {
  const { resolution, xResolution = resolution, yResolution = resolution } = options;
  return [xResolution, yResolution];
}

/** Pixels of a whole page. Exact sides override the long side, which overrides the resolution. */
function pageSize(points: Size, options: PdftoolsOptions): Size {
  const width = options.width ?? given(options.scaleToX);
  const height = options.height ?? given(options.scaleToY);
  if (width !== undefined && height !== undefined) return { width, height };
  if (width !== undefined) return { width, height: pixels((points.height * width) / points.width) };
  if (height !== undefined) return { width: pixels((points.width * height) / points.height), height };
  if (options.longSide !== undefined) {
    const scale = options.longSide / Math.max(points.width, points.height);
    return { width: pixels(points.width * scale), height: pixels(points.height * scale) };
  }
  const [x, y] = resolutionOf(options);
  return { width: pixels((points.width * x) / 72), height: pixels((points.height * y) / 72) };
}

function given(side: number | undefined): number | undefined {
  return side === -1 ? undefined : side;
}

/** Rounds up to whole pixels, as pdftoppm does. Rounding errors of single precision are ignored. */
function pixels(side: number): number {
  return Math.max(1, Math.ceil(Number(side.toFixed(3))));
}

function rotated({ width, height }: Size): Size {
  return { width: height, height: width };
}
