import type { Sharp } from 'sharp';
import { flatten } from '../operators/blend.ts';
import { quantize } from '../operators/palette.ts';
import { gray } from '../operators/tones.ts';
import { toColor } from '../options/color.ts';
import { defined } from '../options/define.ts';
import { narrow, open, type Pixels, widen, withAlpha } from '../pixels.ts';
import { setPngDensity } from './density.ts';
import type { EncodeOptions } from './encode.ts';
import { encodeIndexedPng } from './png-file.ts';
import { type Content, reduce } from './reduce.ts';

/** The levels of ImageMagick's default quality for PNG. */
const DEFAULT_LEVEL = 7;

/** Color types of the PNG specification. */
const TYPES = { gray: 0, rgb: 2, palette: 3, grayAlpha: 4, rgba: 6 } as const;

/** Encodes the image with as few bits per pixel as it needs, or in the requested color type and depth. */
export async function encodePngImage(image: Pixels, options: EncodeOptions): Promise<Buffer> {
  return setPngDensity(await encodePixels(image, options), options.density);
}

async function encodePixels(image: Pixels, options: EncodeOptions): Promise<Buffer> {
  const { type, depth } = wanted(options);
  const progressive = options.interlace;
  const deep = depth === 16 ? widen(image) : depth === 8 ? narrow(image) : image;
  if (options.extras) return encodeWithSharp(options.open(deep), options);
  if (type === TYPES.rgb) return encodeWithSharp(open(flatten(deep, toColor(options.matte))), options, deep);
  if (type === TYPES.rgba) return encodeWithSharp(open(withAlpha(deep)), options, deep);
  if (type === TYPES.grayAlpha) return encodeWithSharp(open(withAlpha(gray(deep))), options, deep, true);
  if (type === TYPES.gray) {
    const content = reduce(gray(flatten(deep, toColor(options.matte))));
    return encodeReduced(content, options, depth, false);
  }
  if (type === TYPES.palette) {
    const own = reduce(narrow(deep));
    const content = own.indexed ? own : reduce(await quantize(narrow(deep), 256, options.dither));
    return encodeReduced(content, options, depth, true);
  }
  if (depth === 16 || progressive) return encodeWithSharp(open(deep), options, deep);
  return encodeReduced(reduce(deep), options, depth, false);
}

function encodeReduced(
  content: Content,
  options: EncodeOptions,
  minDepth: number | undefined,
  usePalette: boolean,
): Promise<Buffer> | Buffer {
  const { pixels, isGray, indexed } = content;
  const { width, height } = pixels;
  const level = levelOf(options);
  const least = minDepth === undefined || minDepth > 8 ? 1 : minDepth;
  if (indexed) {
    const shades = isGray && pixels.channels === 3 && !usePalette ? grayDepth(indexed.palette) : undefined;
    const bits = Math.max(least, bitsFor(indexed.palette.length));
    if (shades !== undefined && Math.max(least, shades) <= Math.min(bits, 4)) {
      const bitDepth = Math.max(least, shades) as 1 | 2 | 4;
      const values = indexed.indices.map((at) =>
        Math.round((indexed.palette[at]![0] * (2 ** bitDepth - 1)) / 255),
      );
      return encodeIndexedPng({ width, height, bitDepth, values, palette: undefined, level });
    }
    if (bits < 8 || !isGray || pixels.channels === 4 || usePalette) {
      const { indices, palette } = opaqueLast(indexed);
      return encodeIndexedPng({
        width,
        height,
        bitDepth: bits as 1 | 2 | 4 | 8,
        values: indices,
        palette,
        level,
      });
    }
  }
  return encodeWithSharp(open(pixels), options, pixels, isGray);
}

function encodeWithSharp(
  pipeline: Sharp,
  options: EncodeOptions,
  pixels?: Pixels,
  isGray = false,
): Promise<Buffer> {
  const deep = pixels?.samples instanceof Uint16Array;
  const space = deep ? (isGray ? 'grey16' : 'rgb16') : isGray ? 'b-w' : undefined;
  const typed = space ? pipeline.toColorspace(space) : pipeline;
  const filter = defined(options.defines, 'png:compression-filter');
  return typed
    .png({
      compressionLevel: levelOf(options),
      progressive: options.interlace,
      // Photos become half as large with filters; 0 is no filter.
      adaptiveFiltering: filter !== 0,
    })
    .toBuffer();
}

/** Returns the zlib level: from `-define`, or else the tens digit of `-quality` as in ImageMagick. */
function levelOf({ defines, quality }: EncodeOptions): number {
  const level = defined(defines, 'png:compression-level');
  return level ?? (quality === undefined ? DEFAULT_LEVEL : Math.min(9, Math.floor(quality / 10)));
}

/** Returns the requested color type and depth. */
function wanted({ defines, type, depth }: EncodeOptions): {
  type: number | undefined;
  depth: number | undefined;
} {
  const formats = {
    png8: { type: TYPES.palette, depth: undefined },
    png24: { type: TYPES.rgb, depth: 8 },
    png32: { type: TYPES.rgba, depth: 8 },
    png48: { type: TYPES.rgb, depth: 16 },
    png64: { type: TYPES.rgba, depth: 16 },
  } as const;
  const types = {
    Bilevel: TYPES.gray,
    Grayscale: TYPES.gray,
    GrayscaleAlpha: TYPES.grayAlpha,
    Palette: TYPES.palette,
    PaletteAlpha: TYPES.palette,
    TrueColor: TYPES.rgb,
    TrueColorAlpha: TYPES.rgba,
  } as const;
  const format = defined(defines, 'png:format');
  const named = format ? formats[format] : { type: type && types[type], depth: undefined };
  return {
    type: defined(defines, 'png:color-type') ?? named.type,
    depth: defined(defines, 'png:bit-depth') ?? named.depth ?? depth,
  };
}

/** Returns the bits that the shades of gray need: 1, 2 or 4 if those suffice, or else 8. */
function grayDepth(palette: readonly (readonly number[])[]): number {
  return [1, 2, 4].find((bits) => palette.every(([shade]) => shade! % (255 / (2 ** bits - 1)) === 0)) ?? 8;
}

function bitsFor(colors: number): number {
  return [1, 2, 4].find((bits) => colors <= 2 ** bits) ?? 8;
}

/** Orders a palette so that opaque colors come last: only the others need an entry for their opacity. */
function opaqueLast({ palette, indices }: NonNullable<Content['indexed']>) {
  if (palette.every(([, , , alpha]) => alpha === 255)) return { palette, indices };
  const order = palette.map((_, at) => at).sort((one, other) => palette[one]![3] - palette[other]![3]);
  const places = new Uint8Array(palette.length);
  for (const [place, at] of order.entries()) places[at] = place;
  return { palette: order.map((at) => palette[at]!), indices: indices.map((at) => places[at]!) };
}
