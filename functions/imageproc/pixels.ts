import type { Sharp } from 'sharp';
import sharp from 'sharp';
import type { Size } from '../shared/options/geometry.ts';

/** A decoded image: RGB or RGBA, row by row, with 8 or 16 bits per sample. */
export interface Pixels extends Size {
  readonly samples: Uint8Array | Uint16Array;
  readonly channels: 3 | 4;
}

export type Depth = 8 | 16;

/** Returns the number of bits per sample. */
function depthOf({ samples }: Pixels): Depth {
  return samples instanceof Uint16Array ? 16 : 8;
}

/** Runs a sharp pipeline and returns its result as sRGB pixels. */
export async function render(pipeline: Sharp, depth: Depth): Promise<Pixels> {
  const output =
    depth === 16
      ? pipeline.toColorspace('rgb16').raw({ depth: 'ushort' })
      : pipeline.toColorspace('srgb').raw({ depth: 'uchar' });
  const { data, info } = await output.toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  // Copied, because `slice` of a Node buffer would not copy.
  const { buffer, byteOffset, length } = data;
  const samples =
    depth === 16
      ? new Uint16Array(buffer, byteOffset, length / 2)
      : new Uint8Array(buffer, byteOffset, length);
  if (info.channels === 3 || info.channels === 4) return { samples, width, height, channels: info.channels };
  return { samples: withoutSurplus(samples, info.channels), width, height, channels: 4 };
}

/** Removes the channels after the fourth, which is the opacity: printing inks and masks of a TIFF. */
function withoutSurplus(samples: Uint8Array | Uint16Array, channels: number): Uint8Array | Uint16Array {
  const count = samples.length / channels;
  const kept = samples instanceof Uint16Array ? new Uint16Array(4 * count) : new Uint8Array(4 * count);
  for (let pixel = 0; pixel < count; pixel += 1) {
    for (let channel = 0; channel < 4; channel += 1)
      kept[4 * pixel + channel] = samples[channels * pixel + channel]!;
  }
  return kept;
}

/** Opens pixels in sharp. */
export function open({ samples, width, height, channels }: Pixels): Sharp {
  return sharp(samples, { raw: { width, height, channels }, limitInputPixels: false });
}

/**
 * Runs one sharp operation on pixels. Each operation is a separate pipeline, because sharp would otherwise reorder
 * them.
 */
export function apply(pixels: Pixels, operation: (pipeline: Sharp) => Sharp): Promise<Pixels> {
  return render(operation(open(pixels)), depthOf(pixels));
}

/** Returns the pixels without their alpha channel. Colors of transparent pixels become visible. */
export function withoutAlpha(pixels: Pixels): Pixels {
  if (pixels.channels === 3) return pixels;
  const length = pixels.width * pixels.height * 3;
  const samples = pixels.samples instanceof Uint16Array ? new Uint16Array(length) : new Uint8Array(length);
  for (let from = 0, to = 0; to < samples.length; from += 4, to += 3) {
    samples[to] = pixels.samples[from]!;
    samples[to + 1] = pixels.samples[from + 1]!;
    samples[to + 2] = pixels.samples[from + 2]!;
  }
  return { ...pixels, samples, channels: 3 };
}

/** Returns the pixels with 8 bits per sample. */
export function narrow(pixels: Pixels): Pixels {
  if (!(pixels.samples instanceof Uint16Array)) return pixels;
  return { ...pixels, samples: Uint8Array.from(pixels.samples, (sample) => Math.round(sample / 257)) };
}

/** The smallest form in which an image can be stored without loss. */
interface Content {
  /** Pixels with 8 bits per sample if that is lossless, and without an alpha channel if everything is opaque. */
  readonly pixels: Pixels;
  readonly isGray: boolean;
  /** Distinct colors as RGBA with an index for each pixel, if there are at most 256 of them with 8 bits per sample. */
  readonly indexed: Indexed | undefined;
}

export interface Indexed {
  readonly palette: readonly (readonly [number, number, number, number])[];
  readonly indices: Uint8Array;
}

const MAX_COLORS = 256;
const TABLE_SIZE = 1024;

/** Returns the smallest lossless representation of an image. */
export function reduce(image: Pixels): Content {
  const shallow = isNarrow(image) ? narrow(image) : image;
  const pixels = isOpaque(shallow) ? withoutAlpha(shallow) : shallow;
  return { pixels, isGray: isGray(pixels), indexed: index(pixels) };
}

/** Whether all pixels are gray. */
export function isGray({ samples, channels }: Pixels): boolean {
  for (let at = 0; at < samples.length; at += channels) {
    if (samples[at] !== samples[at + 1] || samples[at] !== samples[at + 2]) return false;
  }
  return true;
}

/** Whether all pixels are opaque. */
export function isOpaque({ samples, channels }: Pixels): boolean {
  if (channels === 3) return true;
  const max = samples instanceof Uint16Array ? 65_535 : 255;
  for (let at = 3; at < samples.length; at += 4) if (samples[at] !== max) return false;
  return true;
}

/** The largest share of pixels that equal their left neighbor: up to 0.4 in photos, from 0.7 in screenshots and drawings. */
const MAX_FLAT = 0.5;
/** The fewest shades of a gray photo. */
const MIN_SHADES = 64;

/** Whether an opaque image has the noise and the colors of a photo. */
export function isPhoto(pixels: Pixels): boolean {
  const { samples } = pixels;
  let flat = 0;
  for (let at = 3; at < samples.length; at += 3) {
    const isSame = samples[at] === samples[at - 3] && samples[at + 1] === samples[at - 2];
    if (isSame && samples[at + 2] === samples[at - 1]) flat += 1;
  }
  if (flat > (samples.length / 3) * MAX_FLAT) return false;
  const few = index(pixels);
  return !few || (few.palette.length >= MIN_SHADES && isGray(pixels));
}

function isNarrow({ samples }: Pixels): boolean {
  return samples instanceof Uint8Array || samples.every((sample) => sample % 257 === 0);
}

/** Numbers the distinct colors, or returns `undefined` as soon as there are too many. */
function index({ samples, channels, width, height }: Pixels): Indexed | undefined {
  if (samples instanceof Uint16Array) return undefined;
  const keys = new Uint32Array(TABLE_SIZE);
  const numbers = new Int16Array(TABLE_SIZE).fill(-1);
  const palette: [number, number, number, number][] = [];
  const indices = new Uint8Array(width * height);
  for (let at = 0, pixel = 0; at < samples.length; at += channels, pixel += 1) {
    const [red, green, blue] = [samples[at]!, samples[at + 1]!, samples[at + 2]!];
    const alpha = channels === 4 ? samples[at + 3]! : 255;
    const key = ((red << 24) | (green << 16) | (blue << 8) | alpha) >>> 0;
    let slot = (Math.imul(key, 0x9e3779b1) >>> 22) % TABLE_SIZE;
    while (numbers[slot]! >= 0 && keys[slot] !== key) slot = (slot + 1) % TABLE_SIZE;
    if (numbers[slot]! < 0) {
      if (palette.length === MAX_COLORS) return undefined;
      keys[slot] = key;
      numbers[slot] = palette.length;
      palette.push([red, green, blue, alpha]);
    }
    indices[pixel] = numbers[slot]!;
  }
  return { palette, indices };
}
