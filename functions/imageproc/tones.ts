import type { Colour } from 'sharp';
import sharp from 'sharp';
import { mapChannels, type Pixels } from './picture.ts';

// The formulas are those of ImageMagick 6 and 7; colours from 0 to 1 unless said otherwise.

/** Weights of red, green and blue in the brightness of a pixel (Rec. 709, on the gamma-coded values). */
export const LUMA = [0.212656, 0.715158, 0.072186] as const;

/** Stretches the brightness so that the darkest 2 % are black and the brightest 1 % white. */
export function normalize(pixels: Pixels): Pixels {
  const { bytes, channels } = pixels;
  const counts = new Uint32Array(256);
  for (let start = 0; start < bytes.length; start += channels) counts[Math.round(luma(bytes, start))]! += 1;
  const total = bytes.length / channels;
  const black = crossing(counts, total * 0.02);
  const white = 255 - crossing(counts.toReversed(), total * 0.01);
  return white > black ? mapChannels(pixels, (value) => ((value - black) / (white - black)) * 255) : pixels;
}

export function gamma(pixels: Pixels, exponent: number): Pixels {
  return mapChannels(pixels, (value) => (value / 255) ** (1 / exponent) * 255);
}

/** Both in percent, -100 to 100. */
export function brightnessContrast(
  pixels: Pixels,
  [brightness, contrast]: readonly [number, number],
): Pixels {
  const slope = Math.max(0, Math.tan((Math.PI * (contrast / 100 + 1)) / 4));
  const intercept = brightness / 100 + ((100 - brightness) / 200) * (1 - slope);
  return mapChannels(pixels, (value) => (slope * (value / 255) + intercept) * 255);
}

/** Makes each pixel white or black, by its brightness. */
export function threshold(pixels: Pixels, limit: number): Pixels {
  const bytes = Buffer.from(pixels.bytes);
  for (let start = 0; start < bytes.length; start += pixels.channels) {
    bytes.fill(luma(bytes, start) <= limit * 255 ? 0 : 255, start, start + 3);
  }
  return { ...pixels, bytes };
}

/** Moves the middle tones by `percent` of a colour, less its brightness. */
export async function tint(pixels: Pixels, percent: number, colour: Colour): Promise<Pixels> {
  const fill = await channelsOf(colour);
  const brightness = fill.reduce((sum, channel, index) => sum + channel * LUMA[index]!, 0);
  return mapChannels(pixels, (value, channel) => {
    const tone = value / 255;
    const weight = 1 - 4 * (tone - 0.5) ** 2;
    return (tone + ((percent / 100) * fill[channel]! - brightness) * weight) * 255;
  });
}

/** Brightness, saturation and hue in percent, in the HSL space; 200 in hue is a turn of 180 degrees. */
export function modulate(
  pixels: Pixels,
  [brightness, saturation, hue]: readonly [number, number, number],
): Pixels {
  const bytes = Buffer.from(pixels.bytes);
  for (let start = 0; start < bytes.length; start += pixels.channels) {
    const [h, s, l] = toHsl(bytes[start]! / 255, bytes[start + 1]! / 255, bytes[start + 2]! / 255);
    const turned = (((h + (hue - 100) / 200) % 1) + 1) % 1;
    const light = Math.min(1, (l * brightness) / 100);
    const chroma = (1 - Math.abs(2 * light - 1)) * ((s * saturation) / 100);
    for (let channel = 0; channel < 3; channel += 1) {
      const place = (channel * 2 + 6 - turned * 6) % 6;
      const value = light + chroma * (ramp(place) - 0.5);
      bytes[start + channel] = Math.round(Math.min(1, Math.max(0, value)) * 255);
    }
  }
  return { ...pixels, bytes };
}

/** Adds `gain` times what differs from a softened copy, where it differs by more than `limit`. */
export function unsharp(pixels: Pixels, soft: Pixels, gain: number, limit: number): Pixels {
  const bytes = Buffer.from(pixels.bytes);
  for (let start = 0; start < bytes.length; start += pixels.channels) {
    for (let at = start; at < start + 3; at += 1) {
      const change = bytes[at]! - soft.bytes[at]!;
      if (Math.abs(change) <= limit * 255) continue;
      bytes[at] = Math.min(255, Math.max(0, Math.round(bytes[at]! + gain * change)));
    }
  }
  return { ...pixels, bytes };
}

function luma(bytes: Uint8Array, at: number): number {
  return bytes[at]! * LUMA[0] + bytes[at + 1]! * LUMA[1] + bytes[at + 2]! * LUMA[2];
}

function crossing(counts: Uint32Array, share: number): number {
  let sum = 0;
  const found = counts.findIndex((count) => {
    sum += count;
    return sum > share;
  });
  return Math.max(0, found);
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

/** A channel's share of the colour at a place on the wheel, sixths clockwise from where the channel is full. */
function ramp(place: number): number {
  const distance = Math.min(place, 6 - place);
  return Math.min(1, Math.max(0, 2 - distance));
}

async function channelsOf(colour: Colour): Promise<number[]> {
  const dot = sharp({ create: { width: 1, height: 1, channels: 3, background: colour } });
  return [...(await dot.raw().toBuffer())].map((channel) => channel / 255);
}
