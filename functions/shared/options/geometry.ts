export interface Size {
  readonly width: number;
  readonly height: number;
}

/** An ImageMagick geometry, as given in the query. Exactly one of sides, percent or area is set. */
export interface Geometry {
  readonly width?: number;
  readonly height?: number;
  /** Percent of the image's width and height. */
  readonly percent?: { readonly x: number; readonly y: number };
  /** Maximum number of pixels of the result (`A@`). */
  readonly area?: number;
  /** `!`: stretch to exactly these sides. */
  readonly exact: boolean;
  /** `>`: resize only larger images. */
  readonly onlyShrink: boolean;
  /** `<`: resize only smaller images. */
  readonly onlyEnlarge: boolean;
  /** `^`: the sides are minimums, not maximums. */
  readonly fill: boolean;
}

/** Maximum width and height in a geometry, in pixels. */
const MAX_SIDE = 16384;

/**
 * Parses an ImageMagick geometry, or returns `undefined`. Flags may be anywhere, and `\!` means `!`.
 * Source of the grammar: https://imagemagick.org/script/command-line-processing.php#geometry
 */
export function parseGeometry(value: string): Geometry | undefined {
  const flags = new Set(value.match(/[!<>^%@]/g) ?? []);
  const sides = value.replace(/[\\!<>^@\s]/g, '').replace(/[X×]/g, 'x');
  if (value.length > 40 || (flags.has('<') && flags.has('>'))) return undefined;

  const scaling = {
    exact: flags.has('!'),
    onlyShrink: flags.has('>'),
    onlyEnlarge: flags.has('<'),
    fill: flags.has('^'),
  };
  if (flags.has('%')) return parsePercent(sides, scaling);
  if (flags.has('@')) return parseArea(sides, scaling);

  const match = /^(\d{1,5})?(?:x(\d{1,5})?)?$/.exec(sides);
  const width = match?.[1] === undefined ? undefined : Number(match[1]);
  const height = match?.[2] === undefined ? undefined : Number(match[2]);
  if (width === undefined && height === undefined) return undefined;
  if ([width, height].some((side) => side !== undefined && (side < 1 || side > MAX_SIDE))) return undefined;
  return { ...(width && { width }), ...(height && { height }), ...scaling };
}

export const GEOMETRY_RULE =
  'a geometry such as 800x600, 800x600!, 800x600>, 800x600^, 800, x600, 50% or 480000@, with sides from 1 to 16384';

/** Returns a geometry without the signs that have no meaning, or `undefined` for any other text. */
export function readGeometry(value: string): string | undefined {
  return parseGeometry(value) && value.replace(/[\\\s]/g, '').replace(/[X×]/g, 'x');
}

type Scaling = Pick<Geometry, 'exact' | 'onlyShrink' | 'onlyEnlarge' | 'fill'>;

function parsePercent(sides: string, scaling: Scaling): Geometry | undefined {
  const number = '(\\d{1,5}(?:\\.\\d{0,15})?|\\.\\d{1,15})';
  const match = new RegExp(`^(?:${number}%?)?(?:x(?:${number}%?)?)?$`).exec(sides);
  if (!match || (match[1] === undefined && match[2] === undefined)) return undefined;
  // A side without a percentage keeps its length. A single percentage applies to both sides.
  const single = !sides.includes('x');
  const x = Number(match[1] ?? 100);
  const y = match[2] === undefined ? (single ? x : 100) : Number(match[2]);
  return x > 0 && y > 0 ? { percent: { x, y }, ...scaling } : undefined;
}

function parseArea(sides: string, scaling: Scaling): Geometry | undefined {
  const area = /^\d{1,9}$/.test(sides) ? Number(sides) : 0;
  return area > 0 ? { area, ...scaling } : undefined;
}

/**
 * Returns the width and height of the result in whole pixels, at least 1. As in ImageMagick, `>` and `<` have no effect
 * on a percentage, and `<` has none on an area.
 */
export function applyGeometry(geometry: Geometry, source: { width: number; height: number }) {
  const target = targetSides(geometry, source);
  if (geometry.percent || (geometry.area !== undefined && geometry.onlyEnlarge)) return target;
  const bound = geometry.onlyShrink ? Math.min : geometry.onlyEnlarge ? Math.max : (side: number) => side;
  return { width: bound(target.width, source.width), height: bound(target.height, source.height) };
}

function targetSides(
  { width, height, percent, area, exact, fill }: Geometry,
  source: { width: number; height: number },
) {
  if (percent) return whole(source.width * (percent.x / 100), source.height * (percent.y / 100));
  if (area !== undefined) {
    const scale = Math.sqrt(area / (source.width * source.height));
    return whole(source.width * scale, source.height * scale);
  }
  if (exact) return whole(width ?? source.width, height ?? source.height);
  // ImageMagick uses the single side of `W^` and `xH^` for both.
  const box = fill ? { width: width ?? height, height: height ?? width } : { width, height };
  const scales = [box.width && box.width / source.width, box.height && box.height / source.height].filter(
    (scale) => scale !== undefined,
  );
  const scale = fill ? Math.max(...scales) : Math.min(...scales);
  return whole(source.width * scale, source.height * scale);
}

function whole(width: number, height: number) {
  return { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) };
}
