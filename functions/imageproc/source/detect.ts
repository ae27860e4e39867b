import { ConversionError } from '../../shared/errors.ts';
import { TiffReader } from './tiff.ts';

/** Formats that sharp reads. */
export type ImageKind = 'jpg' | 'png' | 'webp' | 'gif' | 'tiff' | 'svg' | 'avif';

/** Formats that only ImageMagick reads. */
export type ForeignKind = (typeof FOREIGN)[number]['kind'];

/**
 * Returns the kind of image, detected from its bytes and not from its name.
 * @throws ConversionError `UNSUPPORTED_SOURCE` for anything else, and for an SVG whose entities have not been
 * expanded.
 */
export function detectImage(bytes: Buffer): ImageKind | ForeignKind {
  const known = [...OWN, ...FOREIGN];
  const kind = known.find(({ matches }) => matches(bytes))?.kind;
  if (kind) return kind;
  if (looksLikeSvg(bytes)) return 'svg';
  // Targa has no signature at its start, so it comes last.
  if (isTarga(bytes)) return 'tga';
  const unsupported = UNSUPPORTED.find(({ matches }) => matches(bytes))?.name;
  if (unsupported)
    throw new ConversionError('UNSUPPORTED_SOURCE', `The source is ${unsupported}, which is not supported.`);
  const names = [...new Set([...known.map((signature) => signature.kind), 'svg', 'tga'])].join(', ');
  throw new ConversionError(
    'UNSUPPORTED_SOURCE',
    `The source is not an image in a supported format (${names}).`,
  );
}

type Matches = (bytes: Buffer) => boolean;
const text = (from: number, pattern: RegExp): Matches => {
  return (bytes) => pattern.test(bytes.toString('latin1', from, from + 64));
};
const hex = (...signatures: readonly string[]): Matches => {
  return (bytes) => signatures.some((one) => bytes.subarray(0, one.length / 2).toString('hex') === one);
};

const OWN: ReadonlyArray<{ kind: ImageKind; matches: Matches }> = [
  { kind: 'jpg', matches: hex('ffd8') },
  { kind: 'png', matches: hex('89504e470d0a1a0a') },
  { kind: 'gif', matches: text(0, /^GIF8[79]a/) },
  { kind: 'webp', matches: text(0, /^RIFF[\s\S]{4}WEBP/) },
  // Classic and BigTIFF, little and big endian.
  { kind: 'tiff', matches: text(0, /^(II[*+]\0|MM\0[*+])/) },
  { kind: 'avif', matches: (bytes) => /avif|avis/.test(brands(bytes)) },
];

const FOREIGN = [
  { kind: 'heic', matches: (bytes: Buffer) => /hei[cxms]|hev[cx]|mif1/.test(brands(bytes)) },
  { kind: 'psd', matches: hex('384250530001', '384250530002') },
  { kind: 'ico', matches: isIcon },
  {
    kind: 'bmp',
    matches: (bytes: Buffer) => text(0, /^BM/)(bytes) && bytes.length > 26 && bytes.readUInt32LE(14) <= 124,
  },
  { kind: 'dds', matches: text(0, /^DDS /) },
  { kind: 'xcf', matches: text(0, /^gimp xcf /) },
  { kind: 'jp2', matches: hex('0000000c6a5020200d0a870a') },
  { kind: 'j2k', matches: hex('ff4fff51') },
  { kind: 'pam', matches: text(0, /^P7\n/) },
  { kind: 'pfm', matches: text(0, /^P[Ff]\n/) },
  { kind: 'pnm', matches: text(0, /^P[1-6][\s#]/) },
  { kind: 'hdr', matches: text(0, /^#\?(RADIANCE|RGBE)/) },
  { kind: 'exr', matches: hex('762f3101') },
  { kind: 'qoi', matches: text(0, /^qoif/) },
  { kind: 'farbfeld', matches: text(0, /^farbfeld/) },
  { kind: 'fits', matches: text(0, /^SIMPLE {2}=/) },
  { kind: 'dpx', matches: text(0, /^(SDPX|XPDS)/) },
  { kind: 'cin', matches: hex('802a5fd7') },
  { kind: 'dcm', matches: text(128, /^DICM/) },
  { kind: 'sun', matches: hex('59a66a95') },
  { kind: 'sgi', matches: hex('01da00', '01da01') },
  { kind: 'viff', matches: hex('ab01') },
  { kind: 'xpm', matches: text(0, /^\/\* XPM \*\//) },
  { kind: 'xbm', matches: text(0, /^#define [\w-]+_width \d/) },
  { kind: 'mng', matches: hex('8a4d4e470d0a1a0a') },
  { kind: 'jng', matches: hex('8b4a4e470d0a1a0a') },
  { kind: 'dcx', matches: hex('b168de3a') },
  { kind: 'pcx', matches: isPcx },
  {
    kind: 'tga',
    matches: (bytes: Buffer) =>
      bytes.toString('latin1', bytes.length - 18, bytes.length - 2) === 'TRUEVISION-XFILE',
  },
] as const satisfies ReadonlyArray<{ kind: string; matches: Matches }>;

/** Formats that no engine reads, with their names in messages. */
const UNSUPPORTED: ReadonlyArray<{ name: string; matches: Matches }> = [
  { name: 'a JPEG XL image', matches: hex('ff0a', '0000000c4a584c200d0a870a') },
  { name: 'an EMF drawing', matches: (bytes) => bytes.toString('latin1', 40, 44) === ' EMF' },
  { name: 'a WMF drawing', matches: hex('d7cdc69a', '010009000003', '020009000003') },
  { name: 'a PostScript document', matches: (bytes) => text(0, /^%!/)(bytes) || hex('c5d0d3c6')(bytes) },
  { name: 'a PDF document', matches: text(0, /^%PDF-/) },
  { name: 'an Apple icon', matches: text(0, /^icns/) },
];

/** Whether this is an icon or a cursor: a type, and a number of images whose first entry has a reserved zero. */
function isIcon(bytes: Buffer): boolean {
  if (bytes.length < 22 || !hex('00000100', '00000200')(bytes)) return false;
  const images = bytes.readUInt16LE(4);
  return images > 0 && images < 256 && bytes[9] === 0 && bytes.length > 6 + images * 16;
}

/** Whether this is a PCX: a known version, run-length encoding, and 1 to 8 bits per sample. */
function isPcx(bytes: Buffer): boolean {
  return (
    bytes.length > 128 &&
    bytes[0] === 10 &&
    bytes[1]! <= 5 &&
    bytes[2]! <= 1 &&
    [1, 2, 4, 8].includes(bytes[3]!)
  );
}

/** Whether this is a Targa: a known type of image, plausible palette and bits per pixel, and no reserved bits. */
function isTarga(bytes: Buffer): boolean {
  if (bytes.length < 18) return false;
  const [palette, type, bits] = [bytes[1]!, bytes[2]!, bytes[16]!];
  const isIndexed = type === 1 || type === 9;
  const isType = isIndexed ? palette === 1 && bits === 8 : [2, 3, 10, 11].includes(type) && palette <= 1;
  const hasSize = bytes.readUInt16LE(12) > 0 && bytes.readUInt16LE(14) > 0;
  return isType && hasSize && [8, 15, 16, 24, 32].includes(bits) && (bytes[17]! & 0xc0) === 0;
}

/** Returns the main and compatible brands of an ISO media file, or an empty string. */
function brands(bytes: Buffer): string {
  if (bytes.length < 16 || bytes.toString('latin1', 4, 8) !== 'ftyp') return '';
  return bytes.toString('latin1', 8, Math.min(bytes.readUInt32BE(0), 256));
}

/** Matches everything before the first element of an SVG. */
const PROLOGUE = /^(\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*>)+/i;
const HEAD_BYTES = 65_536;

/**
 * Whether this is XML whose first element is `svg`. Declarations that `expandEntities` has left in place are
 * rejected, because entities can expand to gigabytes. Encodings in which entities could hide are rejected, too.
 */
function looksLikeSvg(bytes: Buffer): boolean {
  const head = bytes.toString('latin1', 0, HEAD_BYTES).replace(/^\u00ef\u00bb\u00bf/, '');
  if (/<!DOCTYPE\s+svg[^>]*\[/i.test(head) || (/<svg[\s>]/.test(head) && bytes.includes('<!ENTITY'))) {
    throw new ConversionError(
      'UNSUPPORTED_SOURCE',
      'The SVG declares entities in a way that is not supported.',
    );
  }
  if (!/^<(\w+:)?svg[\s>/]/.test(head.replace(PROLOGUE, ''))) return false;
  const encoding = /<\?xml[^>]*encoding\s*=\s*["']([^"']*)/i.exec(head)?.[1] ?? 'utf-8';
  return /^(utf-?8|us-ascii|iso-8859-1|latin1)$/i.test(encoding);
}

/** How ImageMagick decodes a source that sharp cannot read, or reads incorrectly. */
export interface Decoding {
  readonly kind: ImageKind | ForeignKind;
  /** Position of the frame in the file. */
  readonly frame: number;
  /** Whether to keep the stored colors, so that sharp can convert them by their profile, which is more accurate. */
  readonly keepsColors: boolean;
  /** Whether sharp found the source damaged. */
  readonly isDamaged: boolean;
  /** File to decode instead of the source. */
  readonly path?: string | undefined;
  /** A rare variant of the format, such as `a lossless JPEG`, which may be the reason if decoding fails. */
  readonly variant?: string | undefined;
}

/** Thrown for a source that ImageMagick must decode. */
export class Foreign extends Error {
  override readonly name = 'Foreign';
  readonly decoding: Decoding;

  constructor(
    kind: Decoding['kind'],
    bytes: Buffer,
    frame = 0,
    { isDamaged = false, path }: Partial<Pick<Decoding, 'isDamaged' | 'path'>> = {},
  ) {
    super(`sharp cannot read this ${kind}.`);
    const keepsColors = kind === 'jpg' || (isCmyk(kind, bytes) && bytes.includes('acsp'));
    this.decoding = {
      kind,
      frame: kind === 'ico' ? iconAt(bytes, frame) : frame,
      keepsColors,
      isDamaged,
      path,
      variant: variantOf(kind, bytes),
    };
  }
}

/** Frames of JPEG (ITU-T T.81, table B.1) that are lossless or coded arithmetically. */
const RARE_FRAMES: Readonly<Record<number, string>> = Object.fromEntries([
  ...[0xc3, 0xc5, 0xc6, 0xc7].map((marker) => [marker, 'a lossless or hierarchical JPEG']),
  ...[0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf].map((marker) => [marker, 'a JPEG with arithmetic coding']),
]);
/** Compressions of BMP that programs rarely read. */
const BMP_COMPRESSION = 30;
const PLAIN_BMP = [0, 1, 2, 3];
const [TIFF_PLANES, TIFF_YCBCR] = [284, 6];

/** Returns the name of a valid but rare variant of a format. */
function variantOf(kind: Decoding['kind'], bytes: Buffer): string | undefined {
  try {
    if (kind === 'jpg') return rareFrame(bytes);
    if (kind === 'dds') return rareTexture(bytes);
    if (
      kind === 'bmp' &&
      bytes.readUInt32LE(14) >= 40 &&
      !PLAIN_BMP.includes(bytes.readUInt32LE(BMP_COMPRESSION))
    )
      return `a BMP with compression ${bytes.readUInt32LE(BMP_COMPRESSION)}`;
    if (kind !== 'tiff') return undefined;
    const reader = new TiffReader(bytes);
    const directory = reader.directory();
    const hasPlanes = reader.value(directory, TIFF_PLANES) === 2;
    return hasPlanes && reader.value(directory, TIFF_PHOTOMETRIC) === TIFF_YCBCR
      ? 'a TIFF with YCbCr in planes'
      : undefined;
  } catch {
    return undefined;
  }
}

function rareTexture(bytes: Buffer): string | undefined {
  const compression = bytes.toString('latin1', 84, 88);
  if (/^(?!DXT[135])\w{4}$/.test(compression)) return `a DDS with the compression ${compression}`;
  const bits = bytes.readUInt32LE(88);
  return /^\w/.test(compression) || [24, 32].includes(bits) ? undefined : `a DDS with ${bits} bits per pixel`;
}

function rareFrame(bytes: Buffer): string | undefined {
  for (let at = 2; at + 4 <= bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1]!;
    if (RARE_FRAMES[marker]) return RARE_FRAMES[marker];
    if (marker === 0xda) return undefined;
  }
  return undefined;
}

const SHARP_KINDS: readonly string[] = [
  'jpg',
  'png',
  'webp',
  'gif',
  'tiff',
  'svg',
  'avif',
] satisfies ImageKind[];

/** Whether only ImageMagick reads a kind of image. */
export function isForeign(kind: ImageKind | ForeignKind): kind is ForeignKind {
  return !SHARP_KINDS.includes(kind);
}

const PSD_CMYK = 4;
const [TIFF_PHOTOMETRIC, TIFF_INKS] = [262, 5];

function isCmyk(kind: Decoding['kind'], bytes: Buffer): boolean {
  if (kind === 'psd') return bytes[25] === PSD_CMYK;
  if (kind !== 'tiff') return false;
  try {
    const reader = new TiffReader(bytes);
    return reader.value(reader.directory(), TIFF_PHOTOMETRIC) === TIFF_INKS;
  } catch {
    return false;
  }
}

/** Returns the position of an icon's image, counted from the largest and deepest one. */
function iconAt(bytes: Buffer, frame: number): number {
  const images = Array.from({ length: bytes.readUInt16LE(4) }, (_, index) => {
    const data = bytes.subarray(bytes.readUInt32LE(18 + index * 16));
    if (data.length < 24) return { index, area: 0, bits: 0 };
    // A PNG, or a bitmap of double height whose lower half is a mask.
    if (data[0] === 0x89) return { index, area: data.readUInt32BE(16) * data.readUInt32BE(20), bits: 32 };
    return { index, area: data.readInt32LE(4) * (data.readInt32LE(8) / 2), bits: data.readUInt16LE(14) };
  });
  images.sort((one, other) => other.area - one.area || other.bits - one.bits);
  return images[frame]?.index ?? frame;
}

/** @throws ConversionError `SOURCE_TOO_LARGE` */
export function checkSourcePixels(width: number, height: number, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  const message = `The source has ${width}x${height} pixels. The maximum is ${maxPixels} pixels in total.`;
  throw new ConversionError('SOURCE_TOO_LARGE', message);
}

/** Rethrows an error as `CORRUPT_SOURCE`, unless it already is a `ConversionError`. */
export function damaged(cause: unknown): never {
  if (cause instanceof ConversionError) throw cause;
  throw new ConversionError('CORRUPT_SOURCE', 'The image is damaged.', { cause });
}

/** Returns the error for a frame number past the `count` frames of a source. */
export function missingFrameError(frame: number, count: number): ConversionError {
  const message =
    count === 1
      ? `Parameter '-frame' is ${frame}, but the source has only frame 0.`
      : `Parameter '-frame' is ${frame}, but the source has frames 0 to ${count - 1}.`;
  return new ConversionError('PAGE_RANGE', message, { parameter: '-frame' });
}
