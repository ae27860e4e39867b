import type { Size } from '../../shared/options/geometry.ts';

/** `WxH±x±y` in pixels or percent of the image, or a ratio `W:H`. A missing or zero side means that of the image. */
interface Region {
  readonly width: number;
  readonly height: number;
  readonly unit: 'pixels' | 'percent' | 'ratio';
  readonly x: number;
  readonly y: number;
}

/** `WxH`, pixels or percent of the image, for both edges of an axis. */
interface Edges {
  readonly x: number;
  readonly y: number;
  readonly percent: boolean;
}

type Gravity = string | undefined;

/** Reads a region that `options/values.ts` has checked. */
export function parseRegion(value: string): Region {
  const [, first = '0', separator, second, x, y] =
    /^([\d.]+%?)?(?:([x:])([\d.]+%?)?)?([+-]\d+)([+-]\d+)$/i.exec(value)!;
  const width = Number.parseFloat(first);
  const height = separator ? Number.parseFloat(second ?? '0') : width;
  const unit = separator === ':' ? 'ratio' : value.includes('%') ? 'percent' : 'pixels';
  return { width, height, unit, x: Number(x), y: Number(y) };
}

/** Reads edges that `options/values.ts` has checked. */
export function parseEdges(value: string): Edges {
  const [x = 0, y = x] = value.split(/x/i).map(Number.parseFloat);
  return { x, y, percent: value.includes('%') };
}

export interface Rectangle extends Size {
  readonly left: number;
  readonly top: number;
}

/** Returns the position of a box on an image. Its offset counts inwards from the edge that the gravity names. */
export function place(
  { width, height }: Size,
  offset: { readonly x: number; readonly y: number },
  image: Size,
  gravity: Gravity,
): Rectangle {
  const { x, y } = anchor(gravity);
  const left = along(x, image.width, width, offset.x);
  const top = along(y, image.height, height, offset.y);
  return { left, top, width, height };
}

/** Returns the part of a rectangle that is on the image, or `undefined` if there is none. */
export function intersect(rectangle: Rectangle, image: Size): Rectangle | undefined {
  const left = Math.max(0, rectangle.left);
  const top = Math.max(0, rectangle.top);
  const width = Math.min(image.width, rectangle.left + rectangle.width) - left;
  const height = Math.min(image.height, rectangle.top + rectangle.height) - top;
  return width > 0 && height > 0 ? { left, top, width, height } : undefined;
}

/** Returns the widths of the edges in pixels. */
export function edgePixels({ x, y, percent }: Edges, image: Size): { x: number; y: number } {
  if (!percent) return { x: Math.round(x), y: Math.round(y) };
  return { x: Math.round((image.width * x) / 100), y: Math.round((image.height * y) / 100) };
}

/** Returns a region's size in pixels. A ratio selects the largest area of the image with that aspect ratio. */
export function regionSize({ width, height, unit }: Region, image: Size): Size {
  if (unit === 'ratio') {
    const scale = Math.min(image.width / width, image.height / height);
    return atLeastOne({ width: Math.round(width * scale), height: Math.round(height * scale) });
  }
  const side = (value: number, whole: number) => {
    if (value === 0) return whole;
    return Math.round(unit === 'percent' ? (whole * value) / 100 : value);
  };
  return atLeastOne({ width: side(width, image.width), height: side(height, image.height) });
}

/**
 * Returns the smallest canvas that contains the whole image and has a region's aspect ratio, for `-extent` with a
 * ratio.
 */
export function canvasSize(region: Region, image: Size): Size {
  if (region.unit !== 'ratio') return regionSize(region, image);
  const scale = Math.max(image.width / region.width, image.height / region.height);
  return { width: Math.round(region.width * scale), height: Math.round(region.height * scale) };
}

function atLeastOne({ width, height }: Size): Size {
  return { width: Math.max(1, width), height: Math.max(1, height) };
}

type Anchor = 'start' | 'middle' | 'end';

/** Returns the edge of each axis that a gravity names. */
export function anchor(gravity = 'NorthWest'): { x: Anchor; y: Anchor } {
  const x = gravity.endsWith('West') ? 'start' : gravity.endsWith('East') ? 'end' : 'middle';
  const y = gravity.startsWith('North') ? 'start' : gravity.startsWith('South') ? 'end' : 'middle';
  return { x, y };
}

function along(edge: Anchor, whole: number, part: number, offset: number): number {
  if (edge === 'start') return offset;
  if (edge === 'end') return whole - part - offset;
  // ImageMagick 7 rounds toward zero.
  return Math.trunc((whole - part) / 2 + offset);
}
