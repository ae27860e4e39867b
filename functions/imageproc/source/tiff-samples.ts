import { TiffReader } from '../../engines/image/tiff/directory.ts';
import { ConversionError } from '../../shared/errors.ts';
import { copy, maxSample, type Pixels } from '../pixels.ts';
import { labToRgb } from './lab.ts';

/** A readable copy of a TIFF whose samples libvips reads wrongly or not at all, and the correction that its pixels need. */
export interface TiffSamples {
  readonly input: Buffer;
  readonly restore: (pixels: Pixels) => Pixels;
}

const COMPRESSION = 259;
const PHOTOMETRIC = 262;
const BITS_PER_SAMPLE = 258;
const SAMPLES_PER_PIXEL = 277;
const PLANAR_CONFIGURATION = 284;
const TILE_WIDTH = 322;
const YCBCR_COEFFICIENTS = 529;
const YCBCR_SUBSAMPLING = 530;
const SAMPLE_FORMAT = 339;
/** Bits per sample that libvips reads. */
const READABLE_BITS: readonly number[] = [1, 2, 4, 8, 16, 32, 64];
const SEPARATE = 2;
const OLD_JPEG = 6;
const JPEG = 7;
const LZMA = 34925;
const RGB = 2;
const YCBCR = 6;
const CIE_LAB = 8;
const ICC_LAB = 9;
const SIGNED = 2;
/** Shares of red, green and blue in the brightness unless a file names others. */
const BT601 = [0.299, 0.587, 0.114] as const;

/**
 * Returns `undefined` for a page whose samples libvips reads correctly.
 * @throws ConversionError `UNSUPPORTED_SOURCE` for a compression that libvips does not read or reads as
 * white, and for samples that it does not read.
 */
export function unusualSamples(bytes: Buffer, page: number): TiffSamples | undefined {
  try {
    return findUnusual(bytes, page);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function findUnusual(bytes: Buffer, page: number): TiffSamples | undefined {
  const reader = new TiffReader(bytes);
  let directory = reader.directory();
  for (let index = 0; index < page; index += 1) directory = reader.directory(directory.next);
  const entry = (wanted: number) => directory.entries.find(({ tag }) => tag === wanted);
  const number = (wanted: number) => {
    const found = entry(wanted);
    return found && reader.number(found);
  };
  /** Returns a copy of the file with all values of a tag replaced. */
  const changed = (tag: number, value: number) => {
    const result = Buffer.from(bytes);
    const { valuePosition, count } = entry(tag)!;
    for (let index = 0; index < count; index += 1) {
      if (reader.littleEndian) result.writeUInt16LE(value, valuePosition + index * 2);
      else result.writeUInt16BE(value, valuePosition + index * 2);
    }
    return result;
  };
  const fractions = (wanted: number) => {
    const { valuePosition = 0, count = 0 } = entry(wanted) ?? {};
    return Array.from({ length: Math.min(count, 3) }, (_, index) => {
      const at = valuePosition + index * 8;
      return reader.long(at) / reader.long(at + 4);
    });
  };
  /** Whether colors have the resolution of the brightness. By default, they have half of it. */
  const isWhole = () => {
    const subsampling = entry(YCBCR_SUBSAMPLING);
    if (subsampling === undefined) return false;
    const at = subsampling.valuePosition;
    return reader.short(at) === 1 && reader.short(at + 2) === 1;
  };
  if (number(COMPRESSION) === OLD_JPEG) throw unsupported('old-style JPEG compression');
  if (number(COMPRESSION) === LZMA) throw unsupported('LZMA compression');
  const photometric = number(PHOTOMETRIC);
  const isLab = photometric === CIE_LAB || photometric === ICC_LAB;
  const [labBits, labSamples = 1] = isLab ? [number(BITS_PER_SAMPLE), number(SAMPLES_PER_PIXEL)] : [];
  // libvips reads Lab with opacity as transparent.
  if ((labBits === 8 && labSamples > 2) || (labBits === 16 && labSamples > 3)) {
    const restore = (pixels: Pixels) => fromLab(pixels, photometric === CIE_LAB);
    return { input: changed(PHOTOMETRIC, RGB), restore };
  }
  const isYcbcr = photometric === YCBCR && number(COMPRESSION) !== JPEG;
  if (isYcbcr && number(BITS_PER_SAMPLE) === 8 && number(SAMPLES_PER_PIXEL) === 3 && isWhole()) {
    const shares = fractions(YCBCR_COEFFICIENTS);
    const isUsable = shares.length === 3 && shares.every((share) => share > 0 && share < 1);
    const restore = (pixels: Pixels) => fromYcbcr(pixels, isUsable ? shares : BT601);
    return { input: changed(PHOTOMETRIC, RGB), restore };
  }
  const bits = number(BITS_PER_SAMPLE) ?? 1;
  if (!READABLE_BITS.includes(bits)) throw unsupported(`${bits} bits per sample`);
  if (bits < 8 && (number(SAMPLES_PER_PIXEL) ?? 1) > 1) {
    throw unsupported(`${bits} bits per sample and several samples per pixel`);
  }
  if (number(PLANAR_CONFIGURATION) === SEPARATE && number(SAMPLES_PER_PIXEL) !== 1 && entry(TILE_WIDTH)) {
    throw unsupported('separate planes of tiles');
  }
  if (number(SAMPLE_FORMAT) === SIGNED && !isLab && (bits === 8 || bits === 16)) {
    // ImageMagick reads signed bytes as unsigned.
    return { input: changed(SAMPLE_FORMAT, 1), restore: bits === 8 ? (pixels) => pixels : fromSigned };
  }
  return undefined;
}

function unsupported(what: string): ConversionError {
  return new ConversionError(
    'UNSUPPORTED_SOURCE',
    `The source is a TIFF with ${what}, which is not supported.`,
  );
}

/** Converts Lab that was read as RGB. In CIE Lab, a and b are signed; in ICC Lab, 128 is neutral. */
function fromLab(pixels: Pixels, signed: boolean): Pixels {
  const result = copy(pixels);
  const { samples, channels } = result;
  const max = maxSample(pixels);
  // With 16 bits, a and b have a fraction of 8 bits, and in ICC Lab so has L: 100 is 0xff00.
  const unit = max === 255 ? 1 : 256;
  const white = max === 255 || signed ? max : 0xff00;
  const centered = (value: number) => {
    if (!signed) return value / unit - 128;
    return (value > max / 2 ? value - max - 1 : value) / unit;
  };
  for (let at = 0; at < samples.length; at += channels) {
    const lightness = (100 * samples[at]!) / white;
    const rgb = labToRgb(lightness, centered(samples[at + 1]!), centered(samples[at + 2]!));
    for (const [channel, value] of rgb.entries()) samples[at + channel] = Math.round(value * max);
  }
  return result;
}

/** Converts brightness and color differences that were read as RGB. `shares` are those of red, green and blue in the brightness. */
function fromYcbcr(pixels: Pixels, shares: readonly number[]): Pixels {
  const result = copy(pixels);
  const { samples, channels } = result;
  const [red, green, blue] = shares as [number, number, number];
  const limit = (value: number) => Math.min(Math.max(Math.round(value), 0), 255);
  for (let at = 0; at < samples.length; at += channels) {
    const y = samples[at]!;
    const r = y + 2 * (1 - red) * (samples[at + 2]! - 128);
    const b = y + 2 * (1 - blue) * (samples[at + 1]! - 128);
    samples[at] = limit(r);
    samples[at + 1] = limit((y - red * r - blue * b) / green);
    samples[at + 2] = limit(b);
  }
  return result;
}

/** Shifts samples whose zero is in the middle of the range. */
function fromSigned(pixels: Pixels): Pixels {
  const result = copy(pixels);
  const { samples, channels } = result;
  for (let at = 0; at < samples.length; at += 1) {
    if (channels === 3 || at % 4 < 3) samples[at] = samples[at]! ^ 0x8000;
  }
  return result;
}
