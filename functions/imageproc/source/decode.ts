import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Metadata, Sharp, SharpOptions } from 'sharp';
import sharp from 'sharp';
import { ConversionError } from '../../shared/errors.ts';
import type { Size } from '../../shared/options/geometry.ts';
import type { ConversionLimits } from '../../shared/tool.ts';
import type { Resolution } from '../options/values.ts';
import { type Depth, open, render } from '../pixels.ts';
import { densityOf, isUnusualPng, readCicp } from './density.ts';
import {
  checkSourcePixels,
  damaged,
  detectImage,
  Foreign,
  type ForeignKind,
  type ImageKind,
  isForeign,
  missingFrameError,
} from './detect.ts';
import { readNclx, toSrgb } from './nclx.ts';
import {
  checkFilters,
  decodeXml,
  expandEntities,
  gunzipSource,
  lengthsInPixels,
  unsupportedSvg,
} from './svg.ts';
import { rewriteSvg } from './svg-rewrite.ts';
import { checkCompression, isUnusualTiff, pageSelector } from './tiff.ts';

/** A frame of an animation, a page of a TIFF, or the only image of a file. Not decoded yet. */
export interface Frame extends Size {
  /** Pipeline that only rotates the image upright. */
  readonly pipeline: Sharp;
  readonly depth: Depth;
  /** Whether the file stores the frame without color. */
  readonly isGray: boolean;
  /** Whether viewers turn the stored image, which the pipeline leaves as it is. */
  readonly isTurned: boolean;
  readonly hasAlpha: boolean;
  readonly hasPalette: boolean;
  readonly density: Resolution | undefined;
}

/** A source image within the limits. */
export interface Source {
  readonly kind: ImageKind;
  readonly frames: number;
  readonly metadata: Partial<
    Pick<Metadata, 'delay' | 'loop' | 'icc' | 'exif' | 'xmp' | 'bitsPerSample' | 'space'>
  > &
    Size;
  /** Each frame must be decoded before the next one is requested. */
  frame(index: number): Promise<Frame>;
  /** Reads all frames of an animation, stacked vertically. */
  all(): Sharp;
  /** Warns that the result may lack something. */
  readonly warning: string | undefined;
  /** Handles a decoding error. ImageMagick gets a damaged source. */
  readonly failed: (thrown: unknown) => never;
}

interface SourceRequest {
  readonly path: string;
  readonly limits: ConversionLimits;
  readonly options: {
    readonly autoOrient: boolean;
    readonly density?: Resolution | undefined;
    readonly frame?: number | undefined;
    /** Whether to leave colors as they are stored, for results that keep the color profile. */
    readonly ignoreIcc: boolean;
  };
}

/** Maximum number of channels (colors, opacity and spot inks), as in Photoshop. */
const MAX_CHANNELS = 56;

/** Pixels that libvips draws per inch of an SVG, and pixels that ImageMagick and browsers draw. */
const SVG_DENSITY = 72;
const CSS_DENSITY = 96;

/**
 * Reads the type and size of a source before any of its pixels.
 * @throws Foreign for a source that only ImageMagick reads, ConversionError `UNSUPPORTED_SOURCE`, `CORRUPT_SOURCE`, `SOURCE_TOO_LARGE`, `PAGE_RANGE`
 */
export async function openSource(request: SourceRequest): Promise<Source> {
  // Reads bytes instead of passing a path, so that an SVG has no location to resolve relative links against.
  // Synchronous, because a worker does one thing at a time, and the thread pool is several times slower.
  const input = expandEntities(decodeXml(gunzipSource(readFileSync(request.path))));
  const kind = detectImage(input);
  const { frame = 0 } = request.options;
  if (isForeign(kind)) throw new Foreign(kind, input, frame, { path: repair(kind, input, request.path) });
  const source = await sharpSource(kind, await prepare(kind, input, request), request).catch(
    orForeign(kind, input, frame),
  );
  if (frame < source.frames) return source;
  throw missingFrameError(frame, source.frames);
}

/** Repairs bytes that ImageMagick reads incorrectly, if they are of that sort. */
const REPAIRS: Partial<Record<ForeignKind, (bytes: Buffer) => Buffer | undefined>> = {
  pnm: withFinalNewline,
  tga: withoutImageId,
};

/** Writes a repaired copy of a source, and returns its path. */
function repair(kind: ForeignKind, input: Buffer, path: string): string | undefined {
  const repaired = REPAIRS[kind]?.(input);
  if (!repaired) return undefined;
  const copy = join(dirname(path), `repaired.${kind}`);
  writeFileSync(copy, repaired);
  return copy;
}

/** Ends the last number of a text format (P1 to P3), which ImageMagick misses at the end of a file. */
function withFinalNewline(bytes: Buffer): Buffer | undefined {
  const isText = /^P[1-3]/.test(bytes.toString('latin1', 0, 2));
  return isText ? Buffer.concat([bytes, Buffer.from('\n')]) : undefined;
}

/** Returns an error handler that leaves damaged files to ImageMagick, which decodes as much of them as possible. */
function orForeign(kind: ImageKind, input: Buffer, frame: number): (thrown: unknown) => never {
  return (thrown) => {
    const isDamaged = thrown instanceof ConversionError && thrown.code === 'CORRUPT_SOURCE';
    if (isDamaged && kind === 'tiff') checkCompression(input, frame);
    throw isDamaged && kind !== 'svg' ? new Foreign(kind, input, frame, { isDamaged: true }) : thrown;
  };
}

async function prepare(kind: ImageKind, input: Buffer, { limits }: SourceRequest): Promise<Buffer> {
  if (kind === 'avif') return stillAvif(input);
  if (kind !== 'svg') return input;
  // One character per byte, because the markup is ASCII in all accepted encodings.
  const text = lengthsInPixels(input).toString('latin1');
  return Buffer.from(await rewriteSvg(text, limits.pixels), 'latin1');
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
  const isUnusual = { tiff: isUnusualTiff, png: isUnusualPng }[kind as string];
  if (isUnusual?.(input)) throw new Foreign(kind, input, options.frame);
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
  const selectPage = kind === 'tiff' && frames > 1 ? pageSelector(input, frames) : undefined;

  const nclx = kind === 'avif' ? readNclx(input) : kind === 'png' ? readCicp(input) : undefined;

  async function frame(index: number): Promise<Frame> {
    selectPage?.(index);
    const position = selectPage ? 0 : index;
    const own = index === 0 ? metadata : await describe(position);
    const { width, height } = autoOrient ? own.autoOrient : own;
    checkSourcePixels(width, height, limits.pixels);
    if (kind === 'svg') checkFilters(input, { width, height });
    const depth = /16$/.test(own.space ?? '') && own.depth === 'ushort' ? 16 : 8;
    const pipeline = sharp(input, { ...read, ...(frames > 1 && { page: pageOf(position) }) });
    const turned = autoOrient ? pipeline.autoOrient() : pipeline;
    const upright = nclx ? open(toSrgb(await render(turned, depth).catch(damaged), nclx)) : turned;
    const isGray = /^(b-w|grey16)$/.test(own.space ?? '');
    // libvips assumes a different range for such samples.
    if (kind === 'tiff' && /^(u?int|float|double)$/.test(own.depth ?? ''))
      throw new Foreign(kind, input, index);
    // sharp converts 16 bits to a different color space than 8 bits.
    const plain = depth === 16 && own.hasProfile && !ignoreIcc;
    return {
      pipeline: plain ? upright.withIccProfile('srgb', { attach: false }) : upright,
      width,
      height,
      depth,
      isGray,
      isTurned: !autoOrient && (own.orientation ?? 1) > 1,
      hasAlpha: own.hasAlpha,
      hasPalette: own.isPalette,
      density: densityOf(kind, input, position),
    };
  }

  await frame(options.frame !== undefined && options.frame < frames ? options.frame : 0);
  const failed = orForeign(kind, input, options.frame ?? 0);
  const warning = kind === 'svg' ? unsupportedSvg(input) : undefined;
  return {
    kind,
    frames,
    metadata,
    frame,
    failed,
    warning,
    all: () => sharp(input, { ...read, animated: true }),
  };
}

/**
 * Returns the position of a frame in its file. Frame 0 is the primary image, which a HEIF can store after previews.
 */
export function storedPage(frame: number, primary: number): number {
  if (frame === 0) return primary;
  return frame <= primary ? frame - 1 : frame;
}

/** Converts an AVIF sequence to a still image of its first frame, because libvips reads only still images. */
function stillAvif(bytes: Buffer): Buffer {
  if (bytes.toString('latin1', 8, 12) !== 'avis') return bytes;
  const still = Buffer.from(bytes);
  still.write('avif', 8, 'latin1');
  return still;
}

const ID_LENGTH = 0;
const HEADER_BYTES = 18;
/** Positions in the footer, which starts with the positions of two optional areas in the file. */
const FOOTER_BYTES = 26;
const AREAS = [0, 4];
const SIGNATURE = 8;

/**
 * Returns a Targa without the text between its header and its pixels, which ImageMagick 7.1.1 reads as pixels, or
 * `undefined` if there is none.
 */
export function withoutImageId(bytes: Buffer): Buffer | undefined {
  const length = bytes[ID_LENGTH]!;
  if (length === 0) return undefined;
  const result = Buffer.concat([bytes.subarray(0, HEADER_BYTES), bytes.subarray(HEADER_BYTES + length)]);
  result[ID_LENGTH] = 0;
  const footer = result.subarray(-FOOTER_BYTES);
  if (footer.toString('latin1', SIGNATURE, SIGNATURE + 16) !== 'TRUEVISION-XFILE') return result;
  for (const at of AREAS) {
    const position = footer.readUInt32LE(at);
    if (position >= length) footer.writeUInt32LE(position - length, at);
  }
  return result;
}
