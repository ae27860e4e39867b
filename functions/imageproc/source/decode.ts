import { readFileSync } from 'node:fs';
import sharp, { type Metadata, type Sharp, type SharpOptions } from 'sharp';
import { ConversionError } from '../../shared/errors.ts';
import type { Size } from '../../shared/options/parameters.ts';
import type { Limits } from '../../shared/tool.ts';
import type { Resolution } from '../options/resolution.ts';
import { apply, type Depth, fromLinear, open, type Pixels, render } from '../pixels.ts';
import { stillAvif } from './avif.ts';
import { densityOf } from './density.ts';
import { detectImage, type ImageKind } from './detect.ts';
import { orientationOf } from './exif.ts';
import { Foreign, isForeign } from './foreign.ts';
import { checkSourcePixels, damaged } from './limits.ts';
import { exifOfTextChunk, isLinearPng } from './png-chunks.ts';
import { expandEntities } from './svg-entities.ts';
import { checkFilters } from './svg-filters.ts';
import { lengthsInPixels } from './svg-units.ts';
import { gunzipSource } from './svgz.ts';
import { isUnusualTiff } from './unusual-tiff.ts';

/** A frame of an animation, a page of a TIFF, or the only image of a file; not decoded yet. */
export interface Frame extends Size {
  /** Rotated upright, with no other operation. */
  readonly pipeline: Sharp;
  readonly depth: Depth;
  /** Whether the file stores the frame without color. */
  readonly isGray: boolean;
  readonly hasAlpha: boolean;
  readonly density: Resolution | undefined;
}

/** A source that is an image within the limits. */
export interface Source {
  readonly kind: ImageKind;
  readonly frames: number;
  readonly metadata: Partial<
    Pick<Metadata, 'delay' | 'loop' | 'icc' | 'exif' | 'xmp' | 'bitsPerSample' | 'space'>
  > &
    Size;
  frame(index: number): Promise<Frame>;
  /** Reads all frames of an animation, stacked vertically. */
  all(): Sharp;
  /** Handles an error of decoding: ImageMagick gets a damaged source. */
  readonly failed: (thrown: unknown) => never;
}

export interface SourceRequest {
  readonly path: string;
  readonly limits: Limits;
  readonly options: {
    readonly autoOrient: boolean;
    readonly density?: Resolution | undefined;
    readonly frame?: number | undefined;
    /** Leaves colors as they are stored, for results that keep the color profile. */
    readonly ignoreIcc: boolean;
  };
}

/** Colors, opacity and spot inks, as Photoshop allows. */
const MAX_CHANNELS = 56;

/** How many pixels libvips draws per inch of an SVG, and how many ImageMagick and browsers do. */
const SVG_DENSITY = 72;
const CSS_DENSITY = 96;

/**
 * Reads the type and size of a source before any of its pixels.
 * @throws Foreign for a source that only ImageMagick reads, ConversionError `UNSUPPORTED_SOURCE`, `CORRUPT_SOURCE`, `SOURCE_TOO_LARGE`, `PAGE_RANGE`
 */
export async function readSource(request: SourceRequest): Promise<Source> {
  // Bytes, not a path: an SVG then has no location that relative links could start from.
  // Synchronous: a worker does one thing at a time, and the thread pool is several times slower.
  const input = expandEntities(gunzipSource(readFileSync(request.path)));
  const kind = detectImage(input);
  const { frame = 0 } = request.options;
  if (isForeign(kind)) throw new Foreign(kind, input, frame);
  const source = await sharpSource(kind, prepare(kind, input), request).catch(orForeign(kind, input, frame));
  if (frame < source.frames) return source;
  const message = `Parameter '-frame' is ${frame}, but the source has frames 0 to ${source.frames - 1}.`;
  throw new ConversionError('PAGE_RANGE', message);
}

/** Returns a handler of errors that leaves damaged files to ImageMagick, which draws them as far as they go. */
function orForeign(kind: ImageKind, input: Buffer, frame: number): (thrown: unknown) => never {
  return (thrown) => {
    const isDamaged = thrown instanceof ConversionError && thrown.code === 'CORRUPT_SOURCE';
    throw isDamaged && kind !== 'svg' ? new Foreign(kind, input, frame) : thrown;
  };
}

function prepare(kind: ImageKind, input: Buffer): Buffer {
  if (kind === 'avif') return stillAvif(input);
  return kind === 'svg' ? lengthsInPixels(input) : input;
}

async function sharpSource(
  kind: ImageKind,
  input: Buffer,
  { options, limits }: SourceRequest,
): Promise<Source> {
  const { autoOrient, ignoreIcc } = options;
  const density = options.density?.x ?? CSS_DENSITY;
  const vector = kind === 'svg' ? { density: (density * SVG_DENSITY) / CSS_DENSITY } : undefined;
  const read: SharpOptions = {
    limitInputPixels: limits.pixels,
    limitInputChannels: MAX_CHANNELS,
    failOn: 'error',
    sequentialRead: true,
    ignoreIcc,
    ...vector,
  };
  if (kind === 'tiff' && isUnusualTiff(input)) throw new Foreign('tiff', input, options.frame);
  const describe = (index: number) =>
    sharp(input, {
      limitInputPixels: false,
      limitInputChannels: MAX_CHANNELS,
      ...vector,
      ...(index > 0 && { page: pageOf(index) }),
    })
      .metadata()
      .catch(damaged);
  const metadata: Metadata = await describe(0);
  const frames = metadata.pages ?? 1;
  const pageOf = (index: number): number => storedPage(index, metadata.pagePrimary ?? 0);

  async function frame(index: number): Promise<Frame> {
    const own = index === 0 ? metadata : await describe(index);
    const { width, height } = autoOrient ? own.autoOrient : own;
    checkSourcePixels(width, height, limits.pixels);
    if (kind === 'svg') checkFilters(input, { width, height });
    const depth = /16$/.test(own.space ?? '') && own.depth === 'ushort' ? 16 : 8;
    const pipeline = sharp(input, { ...read, ...(frames > 1 && { page: pageOf(index) }) });
    const upright = autoOrient ? pipeline.autoOrient() : pipeline;
    const isGray = /^(b-w|grey16)$/.test(own.space ?? '');
    const details = {
      depth,
      isGray,
      hasAlpha: own.hasAlpha,
      density: densityOf(kind, input, index),
    } as const;
    // White is 1. libvips expects linear colors with white at 1, but gray with white at 255.
    if (own.depth === 'float' && own.space === 'b-w')
      return opened(await render(upright.linear(255), 8).catch(damaged), details);
    // libvips would cut samples of 32 bits off at 255.
    if (own.depth === 'uint')
      return opened(await render(upright.linear(1 / 2 ** 24), 8).catch(damaged), details);
    const orientation = autoOrient && kind === 'png' && !own.exif ? textOrientation(input) : 1;
    const isLinear = kind === 'png' && isLinearPng(input);
    if (orientation > 1 || isLinear) {
      const pixels = await turned(upright, orientation, depth);
      return opened(isLinear ? fromLinear(pixels) : pixels, details);
    }
    // sharp converts 16 bits to another color space than 8 bits.
    const plain = depth === 16 && own.hasProfile && !ignoreIcc;
    return {
      pipeline: plain ? upright.withIccProfile('srgb', { attach: false }) : upright,
      width,
      height,
      ...details,
    };
  }

  await frame(options.frame !== undefined && options.frame < frames ? options.frame : 0);
  const failed = orForeign(kind, input, options.frame ?? 0);
  return { kind, frames, metadata, frame, failed, all: () => sharp(input, { ...read, animated: true }) };
}

/** Returns the position of a frame in its file. The first frame is the primary one: a HEIF can have previews before it. */
export function storedPage(frame: number, primary: number): number {
  if (frame === 0) return primary;
  return frame <= primary ? frame - 1 : frame;
}

/** Returns a frame of pixels that are already decoded. */
function opened(pixels: Pixels, details: Pick<Frame, 'depth' | 'isGray' | 'hasAlpha' | 'density'>): Frame {
  return {
    ...details,
    pipeline: open(pixels),
    width: pixels.width,
    height: pixels.height,
    hasAlpha: pixels.channels === 4,
  };
}

function textOrientation(input: Buffer): number {
  const exif = exifOfTextChunk(input);
  return exif ? orientationOf(exif) : 1;
}

/** Applies an EXIF orientation that sharp does not detect. */
async function turned(pipeline: Sharp, orientation: number, depth: Depth): Promise<Pixels> {
  const mirrored = [2, 4, 5, 7].includes(orientation);
  const angle = [0, 0, 0, 180, 180, 270, 90, 90, 270][orientation]!;
  const pixels = await render(pipeline, depth).catch(damaged);
  const flopped = mirrored ? await apply(pixels, (image) => image.flop()) : pixels;
  return angle === 0 ? flopped : apply(flopped, (image) => image.rotate(angle));
}
