import { ConversionError } from '../../shared/errors.ts';

export type ImageKind =
  | 'jpg'
  | 'png'
  | 'webp'
  | 'gif'
  | 'tiff'
  | 'svg'
  | 'avif'
  | 'bmp'
  | 'ico'
  | 'psd'
  | 'heic';

/**
 * Returns the kind of image, detected from its bytes and not from its name.
 * @throws ConversionError `UNSUPPORTED_SOURCE` for anything else, and for an SVG whose entities were not expanded before.
 */
export function detectImage(bytes: Buffer): ImageKind {
  const kind = SIGNATURES.find(({ matches }) => matches(bytes))?.kind;
  if (kind) return kind;
  if (looksLikeSvg(bytes)) return 'svg';
  const known = [...SIGNATURES.map((signature) => signature.kind), 'svg'].join(', ');
  throw new ConversionError(
    'UNSUPPORTED_SOURCE',
    `The source is not an image in a supported format (${known}).`,
  );
}

const SIGNATURES: ReadonlyArray<{ kind: ImageKind; matches(bytes: Buffer): boolean }> = [
  { kind: 'jpg', matches: (bytes) => starts(bytes, 'ffd8') },
  { kind: 'png', matches: (bytes) => starts(bytes, '89504e470d0a1a0a') },
  { kind: 'gif', matches: (bytes) => /^GIF8[79]a$/.test(text(bytes, 0, 6)) },
  { kind: 'webp', matches: (bytes) => text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 12) === 'WEBP' },
  // Classic and big, little and big endian.
  { kind: 'tiff', matches: (bytes) => /^(II[*+]\0|MM\0[*+])$/.test(text(bytes, 0, 4)) },
  { kind: 'avif', matches: (bytes) => /avif|avis/.test(brands(bytes)) },
  { kind: 'heic', matches: (bytes) => /hei[cxms]|hev[cx]|mif1/.test(brands(bytes)) },
  { kind: 'psd', matches: (bytes) => starts(bytes, '384250530001') || starts(bytes, '384250530002') },
  { kind: 'ico', matches: isIcon },
  {
    kind: 'bmp',
    matches: (bytes) => text(bytes, 0, 2) === 'BM' && bytes.length > 26 && bytes.readUInt32LE(14) <= 124,
  },
];

/** An icon or a cursor: a type, then a number of images of which the first one has a reserved zero. */
function isIcon(bytes: Buffer): boolean {
  if (bytes.length < 22 || !(starts(bytes, '00000100') || starts(bytes, '00000200'))) return false;
  const images = bytes.readUInt16LE(4);
  return images > 0 && images < 256 && bytes[9] === 0;
}

/** Returns the main and compatible brands of an ISO media file, or an empty string. */
function brands(bytes: Buffer): string {
  if (text(bytes, 4, 8) !== 'ftyp' || bytes.length < 16) return '';
  return text(bytes, 8, Math.min(bytes.readUInt32BE(0), 256));
}

/** What may precede the first element of an SVG. */
const PROLOGUE = /^(\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*>)+/i;
const HEAD_BYTES = 65_536;

/**
 * Returns whether this is XML whose first element is `svg`. Declarations that `expandEntities` has left in
 * place are rejected, because entities can expand to gigabytes. Encodings in which entities could hide are
 * rejected, too.
 */
function looksLikeSvg(bytes: Buffer): boolean {
  const head = text(bytes, 0, HEAD_BYTES).replace(/^\u00ef\u00bb\u00bf/, '');
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

function starts(bytes: Buffer, hex: string): boolean {
  return bytes.subarray(0, hex.length / 2).toString('hex') === hex;
}

function text(bytes: Buffer, from: number, to: number): string {
  return bytes.toString('latin1', from, to);
}
