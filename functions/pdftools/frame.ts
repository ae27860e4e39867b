import { ConversionError } from '../shared/errors.ts';
import type { Size } from '../shared/options/parameters.ts';
import type { OptionsOf } from '../shared/tool.ts';
import type { pdftools } from './tool.ts';

export type PdftoolsOptions = OptionsOf<typeof pdftools>;

/** How a page falls on its image: the whole page's pixels, and the part of them that is wanted. */
export interface Frame {
  readonly page: Size;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

/** Frames a page of `points` (1/72 inch, turned as its document says) by the size, turn and crop options. */
export function framePage(points: Size, options: PdftoolsOptions): Frame {
  const page = pageSize(options.rotate % 180 === 0 ? points : turned(points), options);
  const { left = 0, top = 0 } = options;
  if (left >= page.width || top >= page.height) {
    const corner = `'-x' and '-y' (${left}, ${top})`;
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameters ${corner} must lie on the page, which is ${page.width}x${page.height} pixels.`,
    );
  }
  const width = Math.min(options.cropWidth || page.width, page.width - left);
  const height = Math.min(options.cropHeight || page.height, page.height - top);
  return { page, left, top, width, height };
}

/** Pixels of a whole page: exact sides win over the long side, and that over the resolution; half pixels round up. */
function pageSize(points: Size, options: PdftoolsOptions): Size {
  const width = options.width ?? chosen(options.scaleToX);
  const height = options.height ?? chosen(options.scaleToY);
  if (width !== undefined && height !== undefined) return { width, height };
  if (width !== undefined) return scaled(points, width / points.width);
  if (height !== undefined) return scaled(points, height / points.height);
  if (options.longSide !== undefined) {
    return scaled(points, options.longSide / Math.max(points.width, points.height));
  }
  return scaled(points, options.resolution / 72);
}

function chosen(side: number | undefined): number | undefined {
  return side === -1 ? undefined : side;
}

function scaled({ width, height }: Size, scale: number): Size {
  return { width: pixels(width * scale), height: pixels(height * scale) };
}

/** Rounds to a whole pixel; what single precision lost in a page's points must not tip a half the wrong way. */
function pixels(side: number): number {
  return Math.max(1, Math.round(Number(side.toFixed(3))));
}

function turned({ width, height }: Size): Size {
  return { width: height, height: width };
}
