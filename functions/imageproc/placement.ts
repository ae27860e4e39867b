import type { Size } from '../shared/options/parameters.ts';
import type { Edges, Region } from './readers.ts';
import type { ImageprocOptions } from './request.ts';

type Gravity = ImageprocOptions['gravity'];

export interface Rectangle extends Size {
  readonly left: number;
  readonly top: number;
}

/** Where a region lies on an image: its offset counts inwards from the edge that gravity names. */
export function placeRegion(region: Region, image: Size, gravity: Gravity): Rectangle {
  const { width, height } = regionSize(region, image);
  const { x, y } = anchor(gravity);
  const left = along(x, image.width, width, region.x);
  const top = along(y, image.height, height, region.y);
  return { left, top, width, height };
}

/** The part of a rectangle that is on the image; nothing where they do not meet. */
export function intersect(rectangle: Rectangle, image: Size): Rectangle | undefined {
  const left = Math.max(0, rectangle.left);
  const top = Math.max(0, rectangle.top);
  const width = Math.min(image.width, rectangle.left + rectangle.width) - left;
  const height = Math.min(image.height, rectangle.top + rectangle.height) - top;
  return width > 0 && height > 0 ? { left, top, width, height } : undefined;
}

/** Pixels of edges given in pixels or percent. */
export function edgePixels({ x, y, percent }: Edges, image: Size): { x: number; y: number } {
  if (!percent) return { x: Math.round(x), y: Math.round(y) };
  return { x: Math.round((image.width * x) / 100), y: Math.round((image.height * y) / 100) };
}

function regionSize({ width, height, percent }: Region, image: Size): Size {
  const side = (given: number, whole: number) => {
    if (given === 0) return whole;
    return Math.max(1, Math.round(percent ? (whole * given) / 100 : given));
  };
  return { width: side(width, image.width), height: side(height, image.height) };
}

type Anchor = 'start' | 'middle' | 'end';

function anchor(gravity: Gravity = 'NorthWest'): { x: Anchor; y: Anchor } {
  const x = gravity.endsWith('West') ? 'start' : gravity.endsWith('East') ? 'end' : 'middle';
  const y = gravity.startsWith('North') ? 'start' : gravity.startsWith('South') ? 'end' : 'middle';
  return { x, y };
}

function along(place: Anchor, whole: number, part: number, offset: number): number {
  if (place === 'start') return offset;
  if (place === 'end') return whole - part - offset;
  // Halves are rounded one by one, as ImageMagick does.
  return Math.floor(whole / 2) - Math.floor(part / 2) + offset;
}
