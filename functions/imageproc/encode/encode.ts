import type { Sharp } from 'sharp';
import { checkImageSize } from '../../shared/formats.ts';
import type { SharpFormat } from '../formats.ts';
import { flatten } from '../operators/sharp.ts';
import { defined } from '../options/define.ts';
import { settingsAt } from '../options/steps.ts';
import { isGray, narrow, type Pixels } from '../pixels.ts';
import { type EncodeOptions, matteOf } from './options.ts';
import { encodePngImage } from './png.ts';
import { openWith, setJpegDensity } from './png-file.ts';

/** ImageMagick's default quality for photos. */
const QUALITY = 92;

/** Encodes finished pixels. */
export async function encode(image: Pixels, format: SharpFormat, options: EncodeOptions): Promise<Buffer> {
  checkImageSize(image, { format });
  if (format === 'png') return encodePngImage(image, options);
  if (format !== 'jpg') return encodePipeline(openWith(narrow(image), options.extras), format, options);
  const flat = await flatten(narrow(image), matteOf(options.options));
  const pipeline = openWith(flat, options.extras);
  return encodePipeline(
    !options.extras && isGray(flat) ? pipeline.toColorspace('b-w') : pipeline,
    'jpg',
    options,
  );
}

/** Encodes the result of a sharp pipeline. */
export async function encodePipeline(
  pipeline: Sharp,
  format: Exclude<SharpFormat, 'png'>,
  { options, density, animation }: EncodeOptions,
): Promise<Buffer> {
  const { define, interlace = 'None' } = options;
  const progressive = interlace !== 'None';
  const number = (key: Parameters<typeof defined>[1], absent: number) =>
    Number(defined(define, key) ?? absent);
  // As in ImageMagick, 0 means the default.
  const quality = options.quality || QUALITY;
  switch (format) {
    case 'jpg': {
      const sampling = defined(define, 'jpeg:sampling-factor') ?? options.sampling;
      const jpeg = await pipeline
        .jpeg({
          quality,
          progressive,
          // As in ImageMagick, quality 90 and above keeps the full color resolution.
          chromaSubsampling: sampling ?? (quality >= 90 ? '4:4:4' : '4:2:0'),
          // Optimized Huffman tables take a fifth of the time of a whole photo and save 5 %. Progressive files need them.
          optimizeCoding: progressive || defined(define, 'jpeg:optimize-coding') === 'true',
        })
        .toBuffer();
      return setJpegDensity(jpeg, density);
    }
    case 'webp': {
      const near = number('webp:near-lossless', Number.NaN);
      return pipeline
        .webp({
          quality: near >= 0 ? Math.max(1, near) : quality,
          lossless: defined(define, 'webp:lossless') === 'true',
          nearLossless: near >= 0,
          alphaQuality: number('webp:alpha-quality', 100),
          effort: number('webp:method', 4),
          ...animation,
        })
        .toBuffer();
    }
    case 'avif': {
      const effort = 9 - number('heic:speed', 7);
      return pipeline
        .avif({ quality, effort, lossless: defined(define, 'heic:lossless') === 'true' })
        .toBuffer();
    }
    case 'gif': {
      const dither = settingsAt(options.steps)['-dither'] === 'off' ? 0 : 1;
      return pipeline.gif({ effort: 3, dither, progressive, ...animation }).toBuffer();
    }
    default:
      return format satisfies never;
  }
}
