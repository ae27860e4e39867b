import sharp from 'sharp';
import { expect } from 'vitest';
import { QUARTERS, quarters } from '../../fixtures/image.ts';
import { pixel } from '../../helpers/pixels.ts';

/** Four quarters, 80 by 60 pixels. */
export const PICTURE = await quarters(80, 60).png().toBuffer();

const { topLeft, topRight, bottomLeft, bottomRight } = QUARTERS;

/** The colors of the quarters in reading order. */
export const UPRIGHT = [topLeft, topRight, bottomLeft, bottomRight];

/** Returns the size and format of an image. */
export async function sizeOf(image: Buffer) {
  const { width, height, format } = await sharp(image).metadata();
  return { width, height, format };
}

/** Returns the colors in the middle of the four quarters, in reading order. */
export async function corners(image: Buffer) {
  const { width, height } = await sharp(image).metadata();
  const [left, right, top, bottom] = [width / 4, (width * 3) / 4, height / 4, (height * 3) / 4].map(
    Math.floor,
  ) as [number, number, number, number];
  const places = [
    [left, top],
    [right, top],
    [left, bottom],
    [right, bottom],
  ] as const;
  return Promise.all(places.map(async ([x, y]) => (await pixel(image, x, y)).slice(0, 3)));
}

/** Expects that each channel differs by less than `within`. */
export function expectClose(
  seen: readonly (readonly number[])[],
  wanted: readonly (readonly number[])[],
  within = 12,
): void {
  for (const [place, color] of wanted.entries()) {
    for (const [channel, value] of color.entries()) {
      const difference = Math.abs(seen[place]![channel]! - value);
      expect(difference, `place ${place}, channel ${channel}`).toBeLessThan(within);
    }
  }
}

/** Returns the brightness of a color. */
export function luma([red, green, blue]: readonly [number, number, number]): number {
  return red * 0.2127 + green * 0.7152 + blue * 0.0722;
}
