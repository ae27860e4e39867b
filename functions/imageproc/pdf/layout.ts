import type { Size } from '../../shared/options/geometry.ts';
import type { Resolution } from '../options/resolution.ts';

/** Pixels per inch of an image that states none, as in browsers. */
const DEFAULT_DENSITY = 96;
/** Maximum side of a page in points, which old readers have (ISO 32000-1, annex C). */
const MAX_SIDE = 14_400;
const POINTS = 72 / 25.4;

/** How images are placed on pages. */
export interface PdfLayout {
  /** Size of the pages in millimeters. By default, each page is as large as its image. */
  readonly paper: Size | undefined;
  /** Margin in millimeters. */
  readonly margin: number;
  readonly fit: 'into' | 'shrink' | 'fill';
}

/** A page in points with the lower left corner and the size of its image. */
export interface PlacedImage extends Size {
  readonly page: Size;
  readonly left: number;
  readonly bottom: number;
  /** Part of the page inside the margin, if the image is larger: left, bottom, width and height. */
  readonly clip?: readonly [number, number, number, number];
}

/** Places an upright image of `size` pixels. A page turns to the shape of its image. */
export function placeImage(size: Size, density: Resolution | undefined, layout: PdfLayout): PlacedImage {
  const { x, y } = density ?? { x: DEFAULT_DENSITY, y: DEFAULT_DENSITY };
  const natural = { width: (size.width * 72) / x, height: (size.height * 72) / y };
  const { paper, fit } = layout;
  const margin = layout.margin * POINTS;
  if (!paper) {
    const longest = Math.max(natural.width, natural.height) + 2 * margin;
    const scale = Math.min(1, MAX_SIDE / longest);
    const [width, height] = [natural.width * scale, natural.height * scale];
    const edge = margin * scale;
    return {
      page: { width: width + 2 * edge, height: height + 2 * edge },
      width,
      height,
      left: edge,
      bottom: edge,
    };
  }
  const upright = { width: paper.width * POINTS, height: paper.height * POINTS };
  const isTurned = natural.width > natural.height !== upright.width > upright.height;
  const page = isTurned ? { width: upright.height, height: upright.width } : upright;
  const room = { width: page.width - 2 * margin, height: page.height - 2 * margin };
  const [across, down] = [room.width / natural.width, room.height / natural.height];
  const scale =
    fit === 'fill' ? Math.max(across, down) : Math.min(across, down, fit === 'shrink' ? 1 : Number.MAX_VALUE);
  const [width, height] = [natural.width * scale, natural.height * scale];
  const placed = { page, width, height, left: (page.width - width) / 2, bottom: (page.height - height) / 2 };
  return fit === 'fill' ? { ...placed, clip: [margin, margin, room.width, room.height] } : placed;
}
