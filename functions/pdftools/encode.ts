import sharp, { type Sharp } from 'sharp';
import { dither } from '../shared/dither.ts';
import { ConversionError } from '../shared/errors.ts';
import { maxSide } from '../shared/formats.ts';
import type { Size } from '../shared/options/parameters.ts';
import type { Format } from '../shared/tool.ts';
import type { Raster } from './backend/document.ts';
import type { PdftoolsOptions } from './frame.ts';

/** @throws ConversionError `RESULT_TOO_LARGE` for an image its format or the limit cannot hold. */
export function checkSize({ width, height }: Size, format: Format, maxPixels: number, what: string): void {
  const longest = maxSide(format);
  const size = `${what} would be ${width}x${height} pixels`;
  if (width * height > maxPixels) {
    throw new ConversionError('RESULT_TOO_LARGE', `${size}, more than ${maxPixels} in all.`);
  }
  if (Math.max(width, height) > longest) {
    throw new ConversionError('RESULT_TOO_LARGE', `${size}; a side of a ${format} has at most ${longest}.`);
  }
}

/** Cuts white edges; an all-white page stays as it is. */
export async function trim(raster: Raster): Promise<Raster> {
  const { data, info } = await open(raster)
    .trim({ background: '#fff', threshold: 8 })
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  return { pixels: data, width, height, channels: info.channels as Raster['channels'] };
}

/** Writes a raster as an image file and answers nothing; the raster may change once the promise is kept. */
export async function writeImage(
  raster: Raster,
  path: string,
  format: Format,
  options: PdftoolsOptions,
): Promise<void> {
  const mono = options.mono && raster.channels === 1;
  if (mono) dither(raster.pixels, raster.width);
  const picture = encode(open(raster), format, options.quality, mono);
  const grey = raster.channels === 1 ? picture.toColourspace('b-w') : picture;
  await grey.withDensity(options.resolution).toFile(path);
}

function open({ pixels, width, height, channels }: Raster): Sharp {
  return sharp(pixels, { raw: { width, height, channels }, limitInputPixels: false });
}

function encode(picture: Sharp, format: Format, quality: number, mono: boolean): Sharp {
  switch (format) {
    case 'jpg':
      // Optimised Huffman tables take two and a half times as long and save 4 to 8 %; pdftoppm does without, too.
      return picture.jpeg({ quality, optimiseCoding: false });
    case 'webp':
      return picture.webp({ quality, effort: 2 });
    case 'avif':
      return picture.avif({ quality, effort: 2 });
    case 'tiff':
      return mono
        ? picture.tiff({ compression: 'ccittfax4', bitdepth: 1 })
        : picture.tiff({ compression: 'deflate', predictor: 'horizontal' });
    default:
      // Level 3 is 40 % faster than the usual 6 and 2 % larger; an adaptive filter makes pages slower and larger.
      return mono
        ? picture.png({ palette: true, colours: 2, dither: 0, effort: 1 })
        : picture.png({ compressionLevel: 3 });
  }
}
