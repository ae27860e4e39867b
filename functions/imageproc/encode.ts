import type { Sharp } from 'sharp';
import { ConversionError } from '../shared/errors.ts';
import { maxSide } from '../shared/formats.ts';
import type { Size } from '../shared/options/parameters.ts';
import type { Format } from '../shared/tool.ts';
import type { ImageprocOptions, ImageStep } from './request.ts';

/** Operators that may bring colour into a grey image. */
const COLOURING: ReadonlySet<ImageStep['operator']> = new Set([
  'border',
  'extent',
  'rotate',
  'tint',
  'flatten',
  'alpha',
]);

/** Operators that may bring shades between black and white. */
const RESHADING: ReadonlySet<ImageStep['operator']> = new Set(['resize', 'thumbnail', 'scale', 'blur']);

/** What ImageMagick users get for photographs. */
const QUALITY = 92;

/** @throws ConversionError `RESULT_TOO_LARGE` for an image beyond the limit. */
export function checkPixels({ width, height }: Size, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  const message = `The result would be ${width}x${height} pixels, more than ${maxPixels} in all.`;
  throw new ConversionError('RESULT_TOO_LARGE', message);
}

/** @throws ConversionError `RESULT_TOO_LARGE` for an image its format cannot hold. */
export function checkSides({ width, height }: Size, format: Format): void {
  const longest = maxSide(format);
  if (Math.max(width, height) <= longest) return;
  const message = `The result would be ${width}x${height} pixels; a side of a ${format} has at most ${longest}.`;
  throw new ConversionError('RESULT_TOO_LARGE', message);
}

/** How a picture comes to its file; what an animation needs beside is in `animation`. */
export function encode(
  picture: Sharp,
  format: Format,
  options: ImageprocOptions,
  animation: { delay?: number[]; loop?: number } = {},
): Sharp {
  const { quality = QUALITY, interlace = 'None' } = options;
  const progressive = interlace !== 'None';
  const dots = isSet(options, 'monochrome');
  const tagged = tag(picture, options);
  switch (format) {
    case 'jpg': {
      // From 90 on colours keep their full resolution, as in ImageMagick.
      const chromaSubsampling = quality >= 90 ? '4:4:4' : '4:2:0';
      // Optimised Huffman tables take a fifth of the time of a whole photograph and save 5 %; progressive files need them.
      const coding = { progressive, optimiseCoding: progressive };
      return inSpace(flat(tagged, options), options).jpeg({ quality, chromaSubsampling, ...coding });
    }
    case 'webp':
      return tagged.webp({ quality, ...animation });
    case 'avif':
      return tagged.avif({ quality, effort: 2 });
    case 'gif':
      return tagged.gif({ effort: 3, ...animation });
    case 'tiff':
      // sharp's own default would be JPEG inside.
      return dots
        ? tagged.toColourspace('b-w').tiff({ compression: 'ccittfax4', bitdepth: 1 })
        : inSpace(tagged, options).tiff({ compression: 'lzw', predictor: 'horizontal' });
    default: {
      const level = options.quality === undefined ? 6 : Math.min(9, Math.floor(options.quality / 10));
      if (dots) return tagged.png({ palette: true, colours: 2, dither: 0 });
      return tagged.png({ compressionLevel: level, progressive });
    }
  }
}

function tag(picture: Sharp, { density, units }: ImageprocOptions): Sharp {
  if (density === undefined || units === 'Undefined') return picture;
  return picture.withDensity(units === 'PixelsPerCentimeter' ? density * 2.54 : density);
}

/** JPEG knows no transparency: on the background, on white where that is transparent too. */
function flat(picture: Sharp, { background }: ImageprocOptions): Sharp {
  return picture.flatten({ background: background === '#00000000' ? '#fff' : background });
}

function inSpace(picture: Sharp, { steps }: ImageprocOptions): Sharp {
  const at = steps.findIndex((step) => step.operator === 'colorspace');
  const space = steps[at]?.value;
  if (space === 'CMYK') return picture.toColourspace('cmyk');
  const coloured = steps.slice(at).some((step) => COLOURING.has(step.operator));
  return space === 'Gray' && !coloured ? picture.toColourspace('b-w') : picture;
}

function isSet({ steps }: ImageprocOptions, operator: 'monochrome'): boolean {
  const at = steps.findIndex((step) => step.operator === operator && step.value);
  return (
    at >= 0 &&
    !steps.slice(at + 1).some((step) => COLOURING.has(step.operator) || RESHADING.has(step.operator))
  );
}
