import type { Color } from '../options/color.ts';
import type { Settings } from '../options/steps.ts';
import { copy, createSamples, maxSample, type Pixels, withoutAlpha } from '../pixels.ts';

type Blend = (below: number, above: number) => number;

/** The separable blend modes of the W3C's Compositing and Blending specification; samples from 0 to 1. */
const BLENDS: Readonly<Record<Settings['compose'], Blend>> = {
  Over: (_, above) => above,
  Multiply: (below, above) => below * above,
  Screen: (below, above) => below + above - below * above,
  Overlay: (below, above) => hardLight(above, below),
  Darken: Math.min,
  Lighten: Math.max,
  ColorDodge: (below, above) => (below === 0 ? 0 : above === 1 ? 1 : Math.min(1, below / (1 - above))),
  ColorBurn: (below, above) => (below === 1 ? 1 : above === 0 ? 0 : 1 - Math.min(1, (1 - below) / above)),
  HardLight: hardLight,
  SoftLight: softLight,
  Difference: (below, above) => Math.abs(below - above),
  Exclusion: (below, above) => below + above - 2 * below * above,
  Plus: (below, above) => Math.min(1, below + above),
};

/** Draws `above` onto `below` with its top left corner at an offset. Parts outside are cut off. */
export function blend(
  below: Pixels,
  above: Pixels,
  at: { readonly left: number; readonly top: number },
  { compose, opacity = 1 }: { readonly compose: Settings['compose']; readonly opacity?: number },
): Pixels {
  const mix = BLENDS[compose];
  const result = copy(below);
  const [max, maxAbove] = [maxSample(below), maxSample(above)];
  const bottom = Math.min(below.height, at.top + above.height);
  const right = Math.min(below.width, at.left + above.width);
  const { samples, channels } = result;
  for (let y = Math.max(0, at.top); y < bottom; y += 1) {
    for (let x = Math.max(0, at.left); x < right; x += 1) {
      const from = ((y - at.top) * above.width + x - at.left) * above.channels;
      const to = (y * below.width + x) * channels;
      const alpha = (above.channels === 4 ? above.samples[from + 3]! / maxAbove : 1) * opacity;
      if (alpha === 0) continue;
      const alphaBelow = channels === 4 ? samples[to + 3]! / max : 1;
      const alphaResult = alpha + alphaBelow * (1 - alpha);
      for (let channel = 0; channel < 3; channel += 1) {
        const low = samples[to + channel]! / max;
        const high = above.samples[from + channel]! / maxAbove;
        const mixed = (1 - alphaBelow) * high + alphaBelow * mix(low, high);
        const value = (alpha * mixed + (1 - alpha) * alphaBelow * low) / alphaResult;
        samples[to + channel] = Math.round(value * max);
      }
      if (channels === 4) samples[to + 3] = Math.round(alphaResult * max);
    }
  }
  return result;
}

/** Draws the image on a color. The result is opaque if the color is; a transparent color changes nothing. */
export function flatten(pixels: Pixels, color: Color): Pixels {
  if (pixels.channels === 3 || color[3] === 0) return pixels;
  const canvas = fill(pixels, pixels, color[3] === 1 ? 3 : 4, color);
  return blend(canvas, pixels, { left: 0, top: 0 }, { compose: 'Over' });
}

/** Creates an image of one color with the depth of `like`. */
export function fill(
  like: Pixels,
  { width, height }: { readonly width: number; readonly height: number },
  channels: 3 | 4,
  color: Color,
): Pixels {
  const max = maxSample(like);
  const samples = createSamples(like, width * height * channels);
  const pixel = color.slice(0, channels).map((value) => Math.round(value * max));
  samples.set(pixel);
  // Doubles the filled part.
  for (let filled = channels; filled < samples.length; filled *= 2) samples.copyWithin(filled, 0, filled);
  return { samples, width, height, channels };
}

/** Copies `part` into `canvas` in place. Both have the same depth. */
export function paste(
  canvas: Pixels,
  part: Pixels,
  at: { readonly left: number; readonly top: number },
): void {
  const opaque = canvas.channels === 3 ? withoutAlpha(part) : part;
  for (let y = 0; y < part.height; y += 1) {
    const row = opaque.samples.subarray(
      y * part.width * opaque.channels,
      (y + 1) * part.width * opaque.channels,
    );
    canvas.samples.set(row, ((y + at.top) * canvas.width + at.left) * canvas.channels);
  }
}

function hardLight(below: number, above: number): number {
  return above <= 0.5 ? below * 2 * above : below + (2 * above - 1) - below * (2 * above - 1);
}

function softLight(below: number, above: number): number {
  if (above <= 0.5) return below - (1 - 2 * above) * below * (1 - below);
  const curve = below <= 0.25 ? ((16 * below - 12) * below + 4) * below : Math.sqrt(below);
  return below + (2 * above - 1) * (curve - below);
}
