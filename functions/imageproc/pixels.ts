import sharp, { type Sharp } from 'sharp';
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
