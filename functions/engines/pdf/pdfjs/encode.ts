import { readFileSync } from 'node:fs';
import sharp, { type Sharp } from 'sharp';
import type { RasterImage } from '../options.ts';
import type { FallbackOperations } from './fallback.ts';

type Write = (image: Sharp, options: { quality: number; effort: number }) => Sharp;

const WRITERS: Readonly<Record<RasterImage, Write>> = {
  avif: (image, options) => image.avif(options),
  webp: (image, options) => image.webp(options),
};

/** Writes pixels that the native process drew, in a format that it cannot write. */
export async function encodeRaster(request: FallbackOperations['encode']): Promise<void> {
  const { raster, target, format, quality, density } = request;
  const { width, height, channels } = request.image;
  const image = sharp(readFileSync(raster), { raw: { width, height, channels }, limitInputPixels: false });
  const gray = channels === 1 ? image.toColorspace('b-w') : image;
  await WRITERS[format](gray, { quality, effort: 2 }).withDensity(density[0]).toFile(target);
}
