import { operatorsOf, settingsAt } from '../options/steps.ts';
import { open } from '../pixels.ts';
import type { ImageprocRequest } from '../request.ts';
import type { Frame, Source } from '../source/decode.ts';
import { uprightExif } from '../source/exif.ts';
import { type EncodeOptions, openWith } from './encode.ts';
import type { PngExtras } from './png-file.ts';

/** Collects what the encoders need from the request and the source. */
export function encodeOptions(
  request: ImageprocRequest,
  source: Source,
  frame: Pick<Frame, 'density'>,
): EncodeOptions {
  const { options } = request;
  const { quality, type, depth, compress, sampling, interlace = 'None', define } = options;
  const { background, dither } = settingsAt(options.steps);
  const extras = extrasOf(request, source);
  return {
    ...{ quality, type, depth, compress, sampling, dither, extras },
    defines: define,
    interlace: interlace !== 'None',
    density: densityOf(options, frame),
    matte: /^(none|transparent)$/i.test(background) ? 'white' : background,
    cmyk: operatorsOf(options.steps).findLast(({ operator }) => operator === 'colorspace')?.value === 'CMYK',
    open: extras ? openWith(extras) : open,
  };
}

function densityOf({ density, units }: ImageprocRequest['options'], frame: Pick<Frame, 'density'>) {
  if (units === 'Undefined') return undefined;
  if (!density) return frame.density;
  const factor = units === 'PixelsPerCentimeter' ? 2.54 : 1;
  return { x: density.x * factor, y: density.y * factor };
}

/** Returns whether the colors of the source are kept as they are, together with its profile. */
export function keepsProfile({ options }: Pick<ImageprocRequest, 'options'>): boolean {
  return !options.strip || options.keep.includes('icc');
}

/** Returns whether the result has metadata of the source. */
export function keepsMetadata({ options }: ImageprocRequest): boolean {
  return !options.strip || options.keep.length > 0;
}

function extrasOf(request: ImageprocRequest, { metadata }: Source): PngExtras | undefined {
  const { strip, keep } = request.options;
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
