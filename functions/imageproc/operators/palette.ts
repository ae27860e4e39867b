import sharp from 'sharp';
import { dither } from '../../engines/image/dither.ts';
import { copy, depthOf, maxSample, open, type Pixels, render } from '../pixels.ts';
import { luma } from './tones.ts';

/** Reduces the image to at most `count` colors, chosen for it. */
export async function quantize(pixels: Pixels, count: number, dithering: boolean): Promise<Pixels> {
  // An encoder of libvips chooses the palette.
  const palette = { palette: true, colors: Math.max(2, count), dither: dithering ? 1 : 0, effort: 7 };
  const reduced = await open(pixels)
    .toColorspace('srgb')
    .png({ ...palette, compressionLevel: 1 })
    .toBuffer();
  return render(sharp(reduced, { limitInputPixels: false }), depthOf(pixels));
}

/** Converts the image to black and white with dithering. */
export function monochrome(pixels: Pixels): Pixels {
  const { width, height, channels } = pixels;
  const max = maxSample(pixels);
  const shades = new Uint8Array(width * height);
  for (let at = 0; at < shades.length; at += 1) {
    shades[at] = Math.round((luma(pixels.samples, at * channels) * 255) / max);
  }
  dither(shades, width);
  const result = copy(pixels);
  for (let at = 0; at < shades.length; at += 1) {
    result.samples.fill(shades[at] === 0 ? 0 : max, at * channels, at * channels + 3);
  }
  return result;
}
