import { ConversionError } from '../shared/errors.ts';

export type ImageKind = 'jpg' | 'png' | 'webp' | 'gif' | 'tiff' | 'svg' | 'avif';

/**
 * Tells what image the bytes are, whatever the file is called.
 * @throws ConversionError `UNSUPPORTED_SOURCE` for anything else, and for an SVG that declares entities.
 */
export function detectImage(bytes: Buffer): ImageKind {
  const kind = SIGNATURES.find(({ matches }) => matches(bytes))?.kind;
  if (kind) return kind;
  if (looksLikeSvg(bytes)) return 'svg';
  const known = [...SIGNATURES.map((signature) => signature.kind), 'svg'].join(', ');
  throw new ConversionError('UNSUPPORTED_SOURCE', `The source is not an image of ${known}.`);
}

const SIGNATURES: ReadonlyArray<{ kind: ImageKind; matches(bytes: Buffer): boolean }> = [
  { kind: 'jpg', matches: (bytes) => starts(bytes, 'ffd8ff') },
  { kind: 'png', matches: (bytes) => starts(bytes, '89504e470d0a1a0a') },
  { kind: 'gif', matches: (bytes) => /^GIF8[79]a$/.test(text(bytes, 0, 6)) },
  { kind: 'webp', matches: (bytes) => text(bytes, 0, 4) === 'RIFF' && text(bytes, 8, 12) === 'WEBP' },
  // Classic and big, little and big endian.
  { kind: 'tiff', matches: (bytes) => /^(II[*+]\0|MM\0[*+])$/.test(text(bytes, 0, 4)) },
  { kind: 'avif', matches: isAvif },
];

/** An ISO media file whose main or compatible brands name AVIF; HEIC looks the same otherwise. */
function isAvif(bytes: Buffer): boolean {
  if (text(bytes, 4, 8) !== 'ftyp' || bytes.length < 16) return false;
  const brands = text(bytes, 8, Math.min(bytes.readUInt32BE(0), 256));
  return /avif|avis/.test(brands);
}

/** What may stand before the first element of an SVG. */
const PROLOGUE = /^(\s|<\?[\s\S]*?\?>|<!--[\s\S]*?-->|<!DOCTYPE[^>[]*>)+/i;
const HEAD_BYTES = 65_536;

/**
 * SVG is XML whose first element is `svg`. One that declares entities is refused, for they multiply; so is one in
 * another encoding, in which we could not see them.
 */
function looksLikeSvg(bytes: Buffer): boolean {
  const head = text(bytes, 0, HEAD_BYTES).replace(/^\u00ef\u00bb\u00bf/, '');
  if (/<!DOCTYPE\s+svg[^>]*\[/i.test(head) || (/<svg[\s>]/.test(head) && bytes.includes('<!ENTITY'))) {
    throw new ConversionError('UNSUPPORTED_SOURCE', 'The source is an SVG that declares entities.');
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
