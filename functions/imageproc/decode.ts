import { readFileSync } from 'node:fs';
import sharp, { type Metadata, type SharpOptions } from 'sharp';
import { ConversionError } from '../shared/errors.ts';
import { detectImage, type ImageKind } from './detect.ts';
import type { Picture } from './picture.ts';
import type { ImageprocRequest } from './request.ts';
import { checkFilters } from './svg-filters.ts';

/** A source that is known to be an image within the limits, not yet decoded. */
export interface Source {
  readonly kind: ImageKind;
  readonly metadata: Metadata;
  /** The chosen frame, upright. */
  readonly picture: Picture;
  /** Reads all frames of an animation below each other. */
  readonly input: Buffer;
}

/** How libvips draws an SVG at its own size; ImageMagick says 96. */
const SVG_DENSITY = 72;
const IMAGEMAGICK_SVG_DENSITY = 96;

/**
 * Reads what a source is, and its size, before any pixel of it.
 * @throws ConversionError `UNSUPPORTED_SOURCE`, `CORRUPT_SOURCE`, `SOURCE_TOO_LARGE`, `PAGE_RANGE`
 */
export async function readSource({ path, options, limits }: ImageprocRequest): Promise<Source> {
  // Bytes, not a path: an SVG then has no place that it could name its neighbours from.
  // At once: a process does one thing at a time, and through threads a read takes several times as long.
  const input = readFileSync(path);
  const kind = detectImage(input);
  const { frame = 0, density = IMAGEMAGICK_SVG_DENSITY, autoOrient } = options;
  const vector = kind === 'svg' ? { density: (density * SVG_DENSITY) / IMAGEMAGICK_SVG_DENSITY } : undefined;
  const metadata = await sharp(input, { limitInputPixels: false, ...vector })
    .metadata()
    .catch(damaged);
  const pages = metadata.pages ?? 1;
  if (frame >= pages) {
    const message = `Parameter '-frame' is ${frame}, but the frames of the source are 0 to ${pages - 1}.`;
    throw new ConversionError('PAGE_RANGE', message);
  }

  const { width, height } = autoOrient ? metadata.autoOrient : metadata;
  checkPixels(width, height, limits.pixels);
  if (kind === 'svg') checkFilters(input, { width, height });
  const read: SharpOptions = {
    limitInputPixels: limits.pixels,
    // A photograph cut short still shows something, but not what its owner meant.
    failOn: 'error',
    sequentialRead: true,
    ...vector,
    ...(pages > 1 && { page: frame }),
  };
  const pipeline = sharp(input, read);
  return {
    kind,
    metadata,
    input,
    picture: { pipeline: autoOrient ? pipeline.autoOrient() : pipeline, width, height },
  };
}

/** @throws ConversionError `SOURCE_TOO_LARGE` */
export function checkPixels(width: number, height: number, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  const message = `The source has ${width}x${height} pixels, more than ${maxPixels} in all.`;
  throw new ConversionError('SOURCE_TOO_LARGE', message);
}

/** Ends work on an image that cannot be read. */
export function damaged(cause: unknown): never {
  if (cause instanceof ConversionError) throw cause;
  throw new ConversionError('CORRUPT_SOURCE', 'The source is a damaged image.', { cause });
}
