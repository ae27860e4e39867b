import { ConversionError } from '../../shared/errors.ts';
import { type Directory, TiffReader } from './tiff-reader.ts';

const TAGS = {
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  samplesPerPixel: 277,
  planarConfiguration: 284,
  tileWidth: 322,
  subsampling: 530,
  sampleFormat: 339,
} as const;

/** Numbers of bits per sample that libvips reads. */
const READABLE_BITS: readonly number[] = [1, 2, 4, 8, 16, 32, 64];
const [OLD_JPEG, JPEG, LZMA] = [6, 7, 34_925];
/**
 * Compressions that libtiff reads: none, CCITT, LZW, JPEG, Deflate, PackBits, NeXT, ThunderScan, Pixar, SGI, JBIG, LERC, LZMA,
 * Zstandard and WebP.
 */
const READABLE_COMPRESSIONS: readonly number[] = [
  ...[1, 2, 3, 4, 5, OLD_JPEG, JPEG, 8, 32_766, 32_771, 32_773, 32_809, 32_909, 32_946],
  ...[34_661, 34_676, 34_677, 34_887, LZMA, 50_000, 50_001],
];
const [YCBCR, CIE_LAB, ICC_LAB] = [6, 8, 9];
const [SEPARATE, SIGNED] = [2, 2];
const MAX_PAGES = 2000;

/**
 * Whether libvips cannot read a page of a TIFF, or reads incorrect colors without an error.
 * @throws ConversionError `UNSUPPORTED_SOURCE` for colors that ImageMagick reads incorrectly, too
 */
export function isUnusualTiff(bytes: Buffer): boolean {
  try {
    const reader = new TiffReader(bytes);
    let pages = 0;
    for (const directory of reader.directories()) {
      if (isUnusual(reader, directory)) return true;
      pages += 1;
      if (pages === MAX_PAGES) break;
    }
    return false;
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
}

/**
 * Checks the compression of a page that could not be read.
 * @throws ConversionError `UNSUPPORTED_SOURCE` for one that libtiff does not know
 */
export function checkCompression(bytes: Buffer, page: number): void {
  const compression = compressionOf(bytes, page);
  if (compression === undefined || READABLE_COMPRESSIONS.includes(compression)) return;
  const message = `The source is a TIFF with compression ${compression}, which is not supported.`;
  throw new ConversionError('UNSUPPORTED_SOURCE', message);
}

/** Returns the number of a page's compression, if the page has one and can be found. */
function compressionOf(bytes: Buffer, page: number): number | undefined {
  try {
    const reader = new TiffReader(bytes);
    let index = 0;
    for (const directory of reader.directories()) {
      if (index === page) return reader.value(directory, TAGS.compression);
      index += 1;
    }
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function isUnusual(reader: TiffReader, directory: Directory): boolean {
  const number = (tag: keyof typeof TAGS) => reader.value(directory, TAGS[tag]);
  const [compression, photometric, bits = 1] = [
    number('compression'),
    number('photometric'),
    number('bitsPerSample'),
  ];
  const samples = number('samplesPerPixel') ?? 1;
  if (photometric === ICC_LAB) {
    const message = 'The source is a TIFF with colors in ICC Lab, which is not supported.';
    throw new ConversionError('UNSUPPORTED_SOURCE', message);
  }
  const isLab = photometric === CIE_LAB;
  return (
    compression === OLD_JPEG ||
    compression === LZMA ||
    (isLab && samples > 1) ||
    (photometric === YCBCR && compression !== JPEG && hasFullColors(reader, directory)) ||
    !READABLE_BITS.includes(bits) ||
    (bits < 8 && samples > 1) ||
    (number('planarConfiguration') === SEPARATE && samples > 1 && number('tileWidth') !== undefined) ||
    (number('sampleFormat') === SIGNED && !isLab)
  );
}

/**
 * Whether YCbCr is stored with full color resolution. ImageMagick reads subsampled colors (two by two by default)
 * incorrectly, but libvips reads them.
 */
function hasFullColors(reader: TiffReader, { entries }: Directory): boolean {
  const found = entries.find(({ tag }) => tag === TAGS.subsampling);
  return (
    found !== undefined &&
    reader.short(found.valuePosition) === 1 &&
    reader.short(found.valuePosition + 2) === 1
  );
}
