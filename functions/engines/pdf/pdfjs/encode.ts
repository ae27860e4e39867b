import { readFileSync } from 'node:fs';
import sharp from 'sharp';
import type { FallbackOperations } from './fallback.ts';

/** Writes pixels that the native process drew in a format that it cannot write. */
export async function encodeRaster(request: FallbackOperations['encode']): Promise<void> {
  const { raster, target, encoding, density } = request;
  const { width, height, channels } = request.image;
  const { format, quality } = encoding;
  const image = sharp(readFileSync(raster), { raw: { width, height, channels }, limitInputPixels: false });
  const gray = channels === 1 ? image.toColorspace('b-w') : image;
  const encoded = format === 'avif' ? gray.avif({ quality, effort: 2 }) : gray.webp({ quality, effort: 2 });
  await encoded.withDensity(density[0]).toFile(target);
}
