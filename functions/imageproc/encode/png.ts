import { defined } from '../options/define.ts';
import { type Indexed, open, type Pixels, reduce } from '../pixels.ts';
import type { EncodeOptions } from './options.ts';
import { encodeIndexedPng, openWith, setPngDensity } from './png-file.ts';

/** The zlib level of ImageMagick's default quality for PNG. */
const DEFAULT_LEVEL = 7;

interface PngOptions extends Pick<EncodeOptions, 'density' | 'extras'> {
  readonly options: Pick<EncodeOptions['options'], 'define' | 'quality' | 'interlace'>;
}

/** Encodes the image with as few bits per pixel as it needs. */
export async function encodePngImage(
  image: Pixels,
  { options, density, extras }: PngOptions,
): Promise<Buffer> {
  const { define, quality, interlace = 'None' } = options;
  const compression = defined(define, 'png:compression-level');
  // As in ImageMagick, the tens digit of the quality is the level, and 0 means the default.
  const fromQuality = quality ? Math.min(9, Math.floor(quality / 10)) : DEFAULT_LEVEL;
  const level = compression === undefined ? fromQuality : Number(compression);
  const progressive = interlace !== 'None';
  // Photos become half as large with filters.
  const png = { compressionLevel: level, progressive, adaptiveFiltering: true };
  if (extras) return setPngDensity(await openWith(image, extras).png(png).toBuffer(), density);

  const { pixels, isGray, indexed } = reduce(image);
  const small = indexed && !progressive ? encodeSmall(pixels, indexed, { isGray, level }) : undefined;
  if (small) return setPngDensity(small, density);
  const deep = pixels.samples instanceof Uint16Array;
  const space = isGray ? (deep ? 'grey16' : 'b-w') : deep ? 'rgb16' : 'srgb';
  return setPngDensity(await open(pixels).toColorspace(space).png(png).toBuffer(), density);
}

/** Encodes shades with less than 8 bits, or a palette, unless 8 bits of gray are smaller. */
function encodeSmall(
  { width, height, channels }: Pixels,
  indexed: Indexed,
  { isGray, level }: { readonly isGray: boolean; readonly level: number },
): Buffer | undefined {
  const isOpaqueGray = isGray && channels === 3;
  const bits = bitsThatFit((depth) => indexed.palette.length <= 2 ** depth);
  const shadeBits = bitsThatFit((depth) =>
    indexed.palette.every(([shade]) => shade % (255 / (2 ** depth - 1)) === 0),
  );
  if (isOpaqueGray && shadeBits <= Math.min(bits, 4)) {
    const max = 2 ** shadeBits - 1;
    const values = indexed.indices.map((at) => Math.round((indexed.palette[at]![0] * max) / 255));
    return encodeIndexedPng({ width, height, bitDepth: shadeBits, values, palette: undefined, level });
  }
  if (isOpaqueGray && bits === 8) return undefined;
  const { indices: values, palette } = opaqueLast(indexed);
  return encodeIndexedPng({ width, height, bitDepth: bits, values, palette, level });
}

function bitsThatFit(fits: (bits: number) => boolean): 1 | 2 | 4 | 8 {
  return ([1, 2, 4] as const).find(fits) ?? 8;
}

/** Orders a palette so that opaque colors come last, because only the others need an entry for their opacity. */
function opaqueLast({ palette, indices }: Indexed): Indexed {
  if (palette.every(([, , , alpha]) => alpha === 255)) return { palette, indices };
  const order = palette.map((_, at) => at).sort((one, other) => palette[one]![3] - palette[other]![3]);
  const places = new Uint8Array(palette.length);
  for (const [place, at] of order.entries()) places[at] = place;
  return { palette: order.map((at) => palette[at]!), indices: indices.map((at) => places[at]!) };
}
