/** An ImageMagick geometry, as read from the wire; exactly one of sides, percent or area is set. */
export interface Geometry {
  readonly width?: number;
  readonly height?: number;
  /** Percent of the present width and height. */
  readonly percent?: { readonly x: number; readonly y: number };
  /** Pixels of the result at most (`A@`). */
  readonly area?: number;
  /** `!`: exactly these sides, stretched. */
  readonly exact: boolean;
  /** `>`: only if larger. */
  readonly onlyShrink: boolean;
  /** `<`: only if smaller. */
  readonly onlyEnlarge: boolean;
  /** `^`: the sides are the least, not the most. */
  readonly fill: boolean;
}

/** Longest side of an image, in pixels. */
export const MAX_SIDE = 16384;

/**
 * Reads an ImageMagick geometry; flags may stand anywhere, and `\!` is `!`. Answers `undefined` for anything else.
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

type Scaling = Pick<Geometry, 'exact' | 'onlyShrink' | 'onlyEnlarge' | 'fill'>;

function parsePercent(sides: string, scaling: Scaling): Geometry | undefined {
  const match = /^(\d{1,5}(?:\.\d{1,4})?)%?(?:x(\d{1,5}(?:\.\d{1,4})?)%?)?$/.exec(sides);
  if (!match) return undefined;
  const x = Number(match[1]);
  const y = match[2] === undefined ? x : Number(match[2]);
  return x > 0 && y > 0 ? { percent: { x, y }, ...scaling } : undefined;
}

function parseArea(sides: string, scaling: Scaling): Geometry | undefined {
  const area = /^\d{1,9}$/.test(sides) ? Number(sides) : 0;
  return area > 0 ? { area, ...scaling } : undefined;
}

/** Sides of the result for an image of `source` size, whole pixels, at least 1; the image itself where a flag says so. */
export function applyGeometry(geometry: Geometry, source: { width: number; height: number }) {
  const target = targetSides(geometry, source);
  const larger = source.width > target.width || source.height > target.height;
  const smaller = source.width < target.width && source.height < target.height;
  if (geometry.onlyShrink && !larger) return { width: source.width, height: source.height };
  if (geometry.onlyEnlarge && !smaller) return { width: source.width, height: source.height };
  return target;
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
  const scales = [width && width / source.width, height && height / source.height].filter(
    (scale) => scale !== undefined,
  );
  const scale = fill ? Math.max(...(scales as number[])) : Math.min(...(scales as number[]));
  return whole(source.width * scale, source.height * scale);
}

function whole(width: number, height: number) {
  return { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) };
}
