import type { Size } from '../shared/options/parameters.ts';
import type { Raster } from './backend/document.ts';
import type { PdftoolsOptions } from './frame.ts';

/** A tall image that pages are put on one below the other, at its left edge. */
export interface Stack {
  add(raster: Raster): void;
  /** The part of the image that pages were put on. */
  finish(): Raster;
}

/** Makes an empty image of `size`: white, or transparent where the options say so. */
export function createStack(size: Size, { gray, mono, transparent }: PdftoolsOptions): Stack {
  const channels = transparent ? 4 : gray || mono ? 1 : 3;
  const pixels = Buffer.alloc(size.width * size.height * channels, transparent ? 0 : 255);
  let top = 0;
  let widest = 1;

  function add(raster: Raster): void {
    for (let y = 0; y < raster.height; y += 1) {
      const row = raster.pixels.subarray(y * raster.width * raster.channels);
      const target = pixels.subarray((top + y) * size.width * channels);
      copyPixels(row, raster.channels, target, channels, raster.width);
    }
    top += raster.height;
    widest = Math.max(widest, raster.width);
  }

  function finish(): Raster {
    const narrow = { pixels, width: size.width, height: top, channels } as const;
    return widest === size.width
      ? { ...narrow, pixels: pixels.subarray(0, size.width * top * channels) }
      : crop(narrow, widest);
  }

  return { add, finish };
}

function copyPixels(from: Uint8Array, step: number, to: Uint8Array, channels: number, count: number): void {
  if (step === channels) {
    to.set(from.subarray(0, count * step));
    return;
  }
  for (let x = 0; x < count; x += 1) {
    for (let channel = 0; channel < channels; channel += 1) {
      to[x * channels + channel] = from[x * step + channel]!;
    }
  }
}

/** Cuts the right edge, in place: trimmed pages are narrower than they were to be. */
function crop(raster: Raster, width: number): Raster {
  const { pixels, channels, height } = raster;
  for (let y = 1; y < height; y += 1) {
    const start = y * raster.width * channels;
    pixels.copyWithin(y * width * channels, start, start + width * channels);
  }
  return { ...raster, width, pixels: pixels.subarray(0, width * height * channels) };
}
