import sharp, { type Sharp } from 'sharp';
import type { Size } from '../shared/options/parameters.ts';

/** A sharp pipeline with at most one operation in it, and the size of what comes out. */
export interface Picture extends Size {
  readonly pipeline: Sharp;
}

/** Pixels of the sRGB colour space, 8 bits a channel, row by row. */
export interface Pixels extends Size {
  readonly bytes: Buffer;
  readonly channels: 3 | 4;
}

/** Runs what is pending. sharp has an order of its own for operations; one at a time keeps to the caller's. */
export async function settle({ pipeline }: { readonly pipeline: Sharp }): Promise<Pixels> {
  const { data, info } = await pipeline
    .toColourspace('srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const { width, height, channels } = info;
  return { bytes: data, width, height, channels: channels as 3 | 4 };
}

/** Makes a picture of pixels. */
export function reopen({ bytes, width, height, channels }: Pixels): Picture {
  const pipeline = sharp(bytes, { raw: { width, height, channels }, limitInputPixels: false });
  return { pipeline, width, height };
}

/** A copy whose colour channels went through `change`, value by value and channel by channel; opacity stays. */
export function mapChannels(pixels: Pixels, change: (value: number, channel: number) => number): Pixels {
  const tables = [0, 1, 2].map((channel) =>
    Uint8ClampedArray.from({ length: 256 }, (_, value) => change(value, channel)),
  );
  const bytes = Buffer.from(pixels.bytes);
  for (let start = 0; start < bytes.length; start += pixels.channels) {
    for (let channel = 0; channel < 3; channel += 1) {
      bytes[start + channel] = tables[channel]![bytes[start + channel]!]!;
    }
  }
  return { ...pixels, bytes };
}
