import { inflateSync } from 'node:zlib';

const SIGNATURE_BYTES = 8;
const MAX_EXIF_BYTES = 1_000_000;

/** Yields the chunks of a PNG before its pixels. Stops at the first one that is cut off. */
export function* pngHeaderChunks(bytes: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE_BYTES; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IDAT' || at + 12 + length > bytes.length) return;
    yield { type, data: bytes.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

/** Returns the EXIF data that ImageMagick and others write into a text chunk, as hexadecimal digits. */
export function exifOfTextChunk(bytes: Buffer): Buffer | undefined {
  for (const { type, data } of pngHeaderChunks(bytes)) {
    if (type !== 'zTXt' && type !== 'tEXt') continue;
    const end = data.indexOf(0);
    if (!/^Raw profile type (exif|APP1)$/.test(data.toString('latin1', 0, end))) continue;
    const text = textOf(type, data.subarray(end + 1));
    // A name, a length, then lines of digits.
    const digits = /^\s*\w+\s+\d+\s+([\da-fA-F\s]+)$/.exec(text)?.[1] ?? '';
    const exif = Buffer.from(digits.replace(/\s/g, ''), 'hex');
    return exif.toString('latin1', 0, 6) === 'Exif\0\0' ? exif.subarray(6) : exif;
  }
  return undefined;
}

/** Returns whether the colors of a PNG are linear, by ImageMagick's rule: a gamma above 0.75, and no color profile. */
export function isLinearPng(bytes: Buffer): boolean {
  const chunks = new Map([...pngHeaderChunks(bytes)].map(({ type, data }) => [type, data]));
  const gamma = chunks.get('gAMA');
  if (gamma?.length !== 4 || ['sRGB', 'iCCP', 'cICP'].some((type) => chunks.has(type))) return false;
  return gamma.readUInt32BE(0) > 75_000;
}

function textOf(type: string, data: Buffer): string {
  if (type === 'tEXt') return data.toString('latin1');
  try {
    // One byte names the compression method.
    return inflateSync(data.subarray(1), { maxOutputLength: MAX_EXIF_BYTES }).toString('latin1');
  } catch {
    return '';
  }
}
