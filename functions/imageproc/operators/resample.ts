import type { Size } from '../../shared/options/parameters.ts';
import { createSamples, maxSample, type Pixels } from '../pixels.ts';

/** Resizes by taking the pixel in the middle of each area, as ImageMagick's `-sample` does. */
export function sample(pixels: Pixels, { width, height }: Size): Pixels {
  const { channels } = pixels;
  const middle = 0.5 - 1e-12;
  const columns = Array.from({ length: width }, (_, x) => Math.floor(((x + middle) * pixels.width) / width));
  const samples = createSamples(pixels, width * height * channels);
  let to = 0;
  for (let y = 0; y < height; y += 1) {
    const row = Math.floor(((y + middle) * pixels.height) / height) * pixels.width;
    for (const column of columns) {
      const from = (row + column) * channels;
      for (let channel = 0; channel < channels; channel += 1)
        samples[to + channel] = pixels.samples[from + channel]!;
      to += channels;
    }
  }
  return { samples, width, height, channels };
}

/** Resizes by averaging the area that each pixel covers, as ImageMagick's `-scale` does. */
export function scale(pixels: Pixels, size: Size): Pixels {
  const { channels } = pixels;
  const across = areas(pixels.width, size.width);
  const down = areas(pixels.height, size.height);
  const samples = createSamples(pixels, size.width * size.height * channels);
  const max = maxSample(pixels);
  const row = new Float32Array(pixels.width * channels);
  for (let y = 0; y < size.height; y += 1) {
    sumRows(pixels, down[y]!, row);
    for (let x = 0; x < size.width; x += 1) {
      const { start, weights } = across[x]!;
      const to = (y * size.width + x) * channels;
      for (let channel = 0; channel < channels; channel += 1) {
        let sum = 0;
        for (let index = 0; index < weights.length; index += 1) {
          sum += row[(start + index) * channels + channel]! * weights[index]!;
        }
        samples[to + channel] = Math.round(sum);
      }
      // Colors are weighted by their opacity.
      const alpha = channels === 4 ? samples[to + 3]! / max : 1;
      if (alpha > 0 && alpha < 1) {
        for (let channel = 0; channel < 3; channel += 1) {
          samples[to + channel] = Math.min(max, Math.round(samples[to + channel]! / alpha));
        }
      }
    }
  }
  return { samples, ...size, channels };
}

interface Area {
  readonly start: number;
  /** Weights of the pixels from `start` on. Their sum is 1. */
  readonly weights: readonly number[];
}

/** Returns which pixels of one axis each new pixel covers. */
function areas(from: number, to: number): readonly Area[] {
  const ratio = from / to;
  return Array.from({ length: to }, (_, at) => {
    const [low, high] = [at * ratio, (at + 1) * ratio];
    const start = Math.floor(low);
    const end = Math.min(from, Math.max(start + 1, Math.ceil(high - 1e-9)));
    const weights = Array.from({ length: end - start }, (__, index) => {
      const left = Math.max(low, start + index);
      return (Math.min(high, start + index + 1) - left) / (high - low);
    });
    return { start, weights };
  });
}

/** Adds up rows by their weights, colors multiplied by their opacity. */
function sumRows(
  { samples, width, channels, ...rest }: Pixels,
  { start, weights }: Area,
  into: Float32Array,
): void {
  const max = maxSample({ samples, width, channels, ...rest });
  into.fill(0);
  for (const [index, weight] of weights.entries()) {
    const from = (start + index) * width * channels;
    for (let at = 0; at < into.length; at += channels) {
      const alpha = channels === 4 ? samples[from + at + 3]! / max : 1;
      for (let channel = 0; channel < 3; channel += 1) {
        into[at + channel]! += samples[from + at + channel]! * alpha * weight;
      }
      if (channels === 4) into[at + 3]! += samples[from + at + 3]! * weight;
    }
  }
}
