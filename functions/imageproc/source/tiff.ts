import { ConversionError } from '../../shared/errors.ts';

/** One entry of a TIFF directory. */
export interface Entry {
  readonly tag: number;
  /** 3 is a 16-bit integer, 4 a 32-bit integer, 5 a fraction of two 32-bit integers. */
  readonly type: number;
  readonly count: number;
  /** Position of the entry in the file. */
  readonly position: number;
  /** Position of its value in the file: inside the entry if it fits into 4 bytes. */
  readonly valuePosition: number;
}

export interface Directory {
  readonly position: number;
  readonly entries: readonly Entry[];
  /** Where the position of the next directory is stored. */
  readonly nextPosition: number;
  readonly next: number;
}

/** Bytes of one value of a type, by type number. */
const SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8] as const;

/** Classic TIFF, which EXIF uses too, in either byte order. Reading past the end throws a `RangeError`. */
export class TiffReader {
  readonly #bytes: Buffer;
  readonly littleEndian: boolean;

  /** @throws RangeError for bytes that are not a classic TIFF. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.littleEndian = bytes.toString('latin1', 0, 2) === 'II';
    const bigEndian = bytes.toString('latin1', 0, 2) === 'MM';
    if (!(this.littleEndian || bigEndian) || this.short(2) !== 42)
      throw new RangeError('The file is not a classic TIFF.');
  }

  short(position: number): number {
    return this.littleEndian ? this.#bytes.readUInt16LE(position) : this.#bytes.readUInt16BE(position);
  }

  long(position: number): number {
    return this.littleEndian ? this.#bytes.readUInt32LE(position) : this.#bytes.readUInt32BE(position);
  }

  /** Reads the directory at a position, by default the first one. */
  directory(position = this.long(4)): Directory {
    const count = this.short(position);
    const entries = Array.from({ length: count }, (_, index): Entry => {
      const at = position + 2 + index * 12;
      const type = this.short(at + 2);
      const values = this.long(at + 4);
      const inside = (SIZES[type] ?? 0) * values <= 4;
      return {
        tag: this.short(at),
        type,
        count: values,
        position: at,
        valuePosition: inside ? at + 8 : this.long(at + 8),
      };
    });
    const nextPosition = position + 2 + count * 12;
    return { position, entries, nextPosition, next: this.long(nextPosition) };
  }

  /** Yields all directories, forever if they form a circle. */
  *directories(): Generator<Directory> {
    for (let position = this.long(4); position !== 0; ) {
      const directory = this.directory(position);
      yield directory;
      position = directory.next;
    }
  }

  /** Returns the first value of a tag as a number. */
  value({ entries }: Directory, wanted: number): number | undefined {
    const entry = entries.find(({ tag }) => tag === wanted);
    return entry && this.number(entry);
  }

  /** Returns the first value of an entry as a number. */
  number({ type, valuePosition }: Entry): number {
    if (type === 5) return this.long(valuePosition) / this.long(valuePosition + 4);
    return type === 3 ? this.short(valuePosition) : this.long(valuePosition);
  }
}

/**
 * Returns a function that makes one page of a TIFF, counted from 0, the only page of the file. libvips reads the
 * directories of all pages whenever it opens a file, which takes a minute for 2,000 pages. The bytes change in place,
 * so the previous page must already be decoded. Returns `undefined` if the file does not have `count` distinct pages.
 */
export function pageSelector(bytes: Buffer, count: number): ((page: number) => void) | undefined {
  try {
    const reader = new TiffReader(bytes);
    const write = (position: number, value: number) =>
      reader.littleEndian ? bytes.writeUInt32LE(value, position) : bytes.writeUInt32BE(value, position);
    const pages: Omit<Directory, 'entries'>[] = [];
    for (const { position, nextPosition, next } of reader.directories()) {
      // The list of pages is circular.
      if (pages.length === count) return undefined;
      pages.push({ position, nextPosition, next });
    }
    if (pages.length !== count) return undefined;
    let last = pages[0]!;
    return (page) => {
      write(last.nextPosition, last.next);
      last = pages[page]!;
      write(4, last.position);
      write(last.nextPosition, 0);
    };
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

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
/** Value of `planarConfiguration` for samples that are stored apart. */
const SEPARATE = 2;
/** Value of `sampleFormat` for signed integers. */
const SIGNED = 2;
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

const ORIENTATION = 0x0112;

/** Returns a copy of EXIF data whose orientation is upright. */
export function uprightExif(exif: Buffer): Buffer {
  const found = orientationEntry(exif);
  if (!found) return exif;
  const result = Buffer.from(exif);
  const { valuePosition } = found.entry;
  if (found.reader.littleEndian) result.writeUInt16LE(1, valuePosition);
  else result.writeUInt16BE(1, valuePosition);
  return result;
}

function orientationEntry(exif: Buffer) {
  try {
    const reader = new TiffReader(exif);
    const entry = reader.directory().entries.find(({ tag, type }) => tag === ORIENTATION && type === 3);
    return entry && { reader, entry };
  } catch {
    // Damaged EXIF data is ignored, as in image viewers.
    return undefined;
  }
}
