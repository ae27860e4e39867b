import { type ImageFormat, isSharpFormat, type SharpFormat } from '../formats.ts';
import { defined } from '../options/define.ts';
import { settingsAt } from '../options/steps.ts';
import { type Resolution, toColor } from '../options/values.ts';
import type { ImageprocOptions, ImageprocRequest } from '../request.ts';
import type { Source } from '../source/decode.ts';
import { uprightExif } from '../source/tiff.ts';
import type { PngExtras } from './png-file.ts';

/** Input of an encoder besides the pixels. */
export interface EncodeOptions {
  readonly options: ImageprocOptions;
  /** Resolution in pixels per inch. */
  readonly density: Resolution | undefined;
  /** Metadata to keep. */
  readonly extras: PngExtras | undefined;
  /** Delays of the frames, and number of repeats. */
  readonly animation?: { readonly delay: number[]; readonly loop: number };
}

/** Definitions that sharp's encoders support. */
const OWN_DEFINES: readonly string[] = [
  'jpeg:sampling-factor',
  'jpeg:optimize-coding',
  'webp:lossless',
  'webp:near-lossless',
  'webp:method',
  'webp:alpha-quality',
  'png:compression-level',
  'heic:speed',
  'heic:lossless',
];

/** Whether sharp writes a single image as requested. Otherwise, ImageMagick does. */
export function sharpEncodes(format: ImageFormat, options: ImageprocOptions): format is SharpFormat {
  // ImageMagick has no encoder for AVIF.
  if (format === 'avif') return true;
  if (!isSharpFormat(format) || options.type || options.depth || options.compress) return false;
  const samplings = [options.sampling, defined(options.define, 'jpeg:sampling-factor')];
  return (
    samplings.every((sampling) => sampling === undefined || sampling === '4:4:4' || sampling === '4:2:0') &&
    options.define.every(({ key }) => OWN_DEFINES.includes(key))
  );
}

/** Returns the opaque color behind transparent pixels, for formats without transparency. */
export function matteOf({ steps }: Pick<ImageprocOptions, 'steps'>): string {
  const { '-background': background = 'white' } = settingsAt(steps);
  return toColor(background)[3] === 0 ? 'white' : background;
}

/** Returns the resolution of the result in pixels per inch. */
export function resultDensity({ density, units }: ImageprocOptions, own: Resolution | undefined) {
  if (units === 'Undefined') return undefined;
  if (!density) return own;
  const factor = units === 'PixelsPerCentimeter' ? 2.54 : 1;
  return { x: density.x * factor, y: density.y * factor };
}

/** Whether the colors of the source are kept unchanged, together with its profile. */
export function keepsProfile({ strip, keep }: Pick<ImageprocOptions, 'strip' | 'keep'>): boolean {
  return !strip || keep.includes('icc');
}

/** Returns the metadata of the source that the result keeps. */
export function extrasOf({ options }: ImageprocRequest, { metadata }: Source): PngExtras | undefined {
  const { strip, keep } = options;
  const keeps = (what: (typeof keep)[number]) => !strip || keep.includes(what);
  const { icc, exif, xmp } = metadata;
  // Profiles for CMYK and gray do not describe RGB pixels.
  const profile = keeps('icc') && icc?.toString('latin1', 16, 20) === 'RGB ' ? icc : undefined;
  const tags = keeps('exif') && exif ? uprightExif(exif.subarray(exifStart(exif))) : undefined;
  const packet = keeps('xmp') ? xmp : undefined;
  return profile || tags || packet ? { icc: profile, exif: tags, xmp: packet } : undefined;
}

function exifStart(exif: Buffer): number {
  return exif.toString('latin1', 0, 6) === 'Exif\0\0' ? 6 : 0;
}
