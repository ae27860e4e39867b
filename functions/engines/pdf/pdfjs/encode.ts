import { readFileSync } from 'node:fs';
import sharp, { type Sharp } from 'sharp';
import type { PageImage } from '../options.ts';
import type { FallbackOperations } from './fallback.ts';

/** Writes pixels that the native process drew, in a format that it cannot write. */
export async function encodeRaster(request: FallbackOperations['encode']): Promise<void> {
  const { raster, target, encoding, density } = request;
  const { width, height, channels } = request.image;
  const { format, quality } = encoding;
  const image = sharp(readFileSync(raster), { raw: { width, height, channels }, limitInputPixels: false });
  const gray = channels === 1 ? image.toColorspace('b-w') : image;
  await writerOf(gray, format, { quality, effort: 2 }).withDensity(density[0]).toFile(target);
}

function writerOf(image: Sharp, format: PageImage, options: { quality: number; effort: number }): Sharp {
  if (format === 'avif') return image.avif(options);
  if (format === 'webp') return image.webp(options);
  throw new Error(`The native process writes ${format} itself.`);
}
