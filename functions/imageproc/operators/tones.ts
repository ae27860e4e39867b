import { toColor } from '../options/color.ts';
import type { Levels } from '../options/readers.ts';
import { copy, mapColors, maxSample, type Pixels } from '../pixels.ts';

// The formulas are those of ImageMagick 6 and 7, for samples from 0 to 1.

/** Weights of red, green and blue in the brightness of a pixel (Rec. 709, on the gamma-coded values). */
const LUMA = [0.212656, 0.715158, 0.072186] as const;

/** Returns the brightness of the pixel at `at`. */
export function luma(samples: Pixels['samples'], at: number): number {
  return samples[at]! * LUMA[0] + samples[at + 1]! * LUMA[1] + samples[at + 2]! * LUMA[2];
}

/** Replaces every color with its brightness. */
export function gray(pixels: Pixels): Pixels {
  const result = copy(pixels);
  const { samples, channels } = result;
  for (let at = 0; at < samples.length; at += channels) {
    const shade = Math.round(luma(samples, at));
    samples[at] = shade;
    samples[at + 1] = shade;
    samples[at + 2] = shade;
  }
  return result;
}

/** Raises every sample to the power of `1 / exponent`, channel by channel. */
export function gamma(pixels: Pixels, exponents: readonly number[]): Pixels {
  return mapColors(pixels, (value, channel) => value ** (1 / exponents[channel]!));
}

/** Stretches the samples between the black and the white point over the whole range. */
export function level(pixels: Pixels, { black, white, gamma: exponent }: Levels): Pixels {
  const span = white - black || 1e-12;
  return mapColors(pixels, (value) => Math.max(0, (value - black) / span) ** (1 / exponent));
}

/** Changes brightness and contrast, both in percent from -100 to 100. */
export function brightnessContrast(
  pixels: Pixels,
  [brightness, contrast]: readonly [number, number],
): Pixels {
  const slope = Math.max(0, Math.tan((Math.PI * (contrast / 100 + 1)) / 4));
  const intercept = brightness / 100 + ((100 - brightness) / 200) * (1 - slope);
  return mapColors(pixels, (value) => slope * value + intercept);
}

/** Makes each pixel white or black depending on its brightness. */
export function threshold(pixels: Pixels, limit: number): Pixels {
  const result = copy(pixels);
  const { samples, channels } = result;
  const max = maxSample(pixels);
  for (let at = 0; at < samples.length; at += channels) {
    samples.fill(luma(samples, at) <= limit * max ? 0 : max, at, at + 3);
  }
  return result;
}

/** Moves the middle tones by `percent` of a color, less its brightness. */
export function tint(pixels: Pixels, percent: number, color: string): Pixels {
  const fill = toColor(color);
  const brightness = LUMA.reduce((sum, weight, index) => sum + weight * fill[index]!, 0);
  return mapColors(pixels, (value, channel) => {
    const weight = 1 - 4 * (value - 0.5) ** 2;
    return value + ((percent / 100) * fill[channel]! - brightness) * weight;
  });
}

/** Changes brightness, saturation and hue in percent, in the HSL space. A hue of 200 rotates it by 180 degrees. */
export function modulate(
  pixels: Pixels,
  [brightness, saturation, hue]: readonly [number, number, number],
): Pixels {
  const result = copy(pixels);
  const { samples, channels } = result;
  const max = maxSample(pixels);
  for (let at = 0; at < samples.length; at += channels) {
    const [h, s, l] = toHsl(samples[at]! / max, samples[at + 1]! / max, samples[at + 2]! / max);
    const turned = (((h + (hue - 100) / 200) % 1) + 1) % 1;
    const light = Math.min(1, (l * brightness) / 100);
    const chroma = (1 - Math.abs(2 * light - 1)) * ((s * saturation) / 100);
    for (let channel = 0; channel < 3; channel += 1) {
      const place = (channel * 2 + 6 - turned * 6) % 6;
      const value = light + chroma * (ramp(place) - 0.5);
      samples[at + channel] = Math.round(Math.min(1, Math.max(0, value)) * max);
    }
  }
  return result;
}

/** Adds `gain` times the difference from a blurred copy if it is larger than `limit`. */
export function unsharp(pixels: Pixels, blurred: Pixels, gain: number, limit: number): Pixels {
  const result = copy(pixels);
  const { samples, channels } = result;
  const max = maxSample(pixels);
  for (let start = 0; start < samples.length; start += channels) {
    for (let at = start; at < start + 3; at += 1) {
      const change = samples[at]! - blurred.samples[at]!;
      if (Math.abs(change) <= limit * max) continue;
      samples[at] = Math.min(max, Math.max(0, Math.round(samples[at]! + gain * change)));
    }
  }
  return result;
}

/** Removes the sRGB transfer curve. */
export function toLinear(pixels: Pixels): Pixels {
  return mapColors(pixels, (value) =>
    value <= 0.0404482 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
}

/** Applies the sRGB transfer curve. */
export function fromLinear(pixels: Pixels): Pixels {
  return mapColors(pixels, (value) =>
    value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055,
  );
}

function toHsl(red: number, green: number, blue: number): [number, number, number] {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  const light = (most + least) / 2;
  const span = most - least;
  if (span === 0) return [0, 0, light];
  const saturation = span / (1 - Math.abs(2 * light - 1));
  if (most === red) return [(((green - blue) / span + 6) % 6) / 6, saturation, light];
  if (most === green) return [((blue - red) / span + 2) / 6, saturation, light];
  return [((red - green) / span + 4) / 6, saturation, light];
}

/** Returns a channel's share at a place on the color wheel, in sixths clockwise from where the channel is full. */
function ramp(place: number): number {
  const distance = Math.min(place, 6 - place);
  return Math.min(1, Math.max(0, 2 - distance));
}
