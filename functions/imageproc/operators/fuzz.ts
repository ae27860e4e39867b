import type { Color } from '../options/color.ts';
import { copy, maxSample, type Pixels, withAlpha } from '../pixels.ts';
import type { Rectangle } from './placement.ts';

/** Returns a function that compares the pixels at two positions within `fuzz`, as ImageMagick measures it. */
function matcher({ samples, channels, ...rest }: Pixels, fuzz: number) {
  const max = maxSample({ samples, channels, ...rest });
  // Values closer than half a step of 16 bits are equal.
  const limit = Math.max(fuzz, 0.7 / 65_535) ** 2;
  return (at: number, other: readonly number[]): boolean => {
    let scale = 1;
    let distance = 0;
    if (channels === 4) {
      const opacity = samples[at + 3]! / max;
      distance = (opacity - other[3]!) ** 2;
      if (distance > limit) return false;
      // The colors of transparent pixels do not matter.
      scale = opacity * other[3]!;
      if (scale < 1e-9) return true;
    }
    distance *= 3;
    for (let channel = 0; channel < 3; channel += 1) {
      distance += scale * (samples[at + channel]! / max - other[channel]!) ** 2;
      if (distance > limit * 3) return false;
    }
    return true;
  };
}

/**
 * Returns the smallest rectangle that contains everything but the edges, or `undefined` if the whole image is edge.
 * Each edge is compared with the corner where it starts, as in ImageMagick.
 */
export function contentBox(pixels: Pixels, fuzz: number): Rectangle | undefined {
  const { width, height, channels, samples } = pixels;
  const max = maxSample(pixels);
  const alike = matcher(pixels, fuzz);
  const colorAt = (x: number, y: number) => {
    const at = (y * width + x) * channels;
    return [...samples.subarray(at, at + channels)].map((sample) => sample / max);
  };
  const topLeft = colorAt(0, 0);
  const topRight = colorAt(width - 1, 0);
  const bottomLeft = colorAt(0, height - 1);
  const rowIs = (y: number, color: readonly number[]) => {
    for (let x = 0; x < width; x += 1) if (!alike((y * width + x) * channels, color)) return false;
    return true;
  };
  let top = 0;
  while (top < height && rowIs(top, topLeft)) top += 1;
  if (top === height) return undefined;
  let bottom = height - 1;
  while (bottom > top && rowIs(bottom, bottomLeft)) bottom -= 1;

  const columnIs = (x: number, color: readonly number[]) => {
    for (let y = 0; y < height; y += 1) if (!alike((y * width + x) * channels, color)) return false;
    return true;
  };
  let left = 0;
  while (left < width && columnIs(left, topLeft)) left += 1;
  let right = width - 1;
  while (right > left && columnIs(right, topRight)) right -= 1;
  if (left > right) return undefined;
  return { left, top, width: right - left + 1, height: bottom - top + 1 };
}

/** Makes every pixel of a color transparent. */
export function makeTransparent(pixels: Pixels, color: Color, fuzz: number): Pixels {
  const result = copy(withAlpha(pixels));
  const alike = matcher(result, fuzz);
  for (let at = 0; at < result.samples.length; at += 4) {
    if (alike(at, color)) result.samples[at + 3] = 0;
  }
  return result;
}
