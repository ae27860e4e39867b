import type { Size } from '../../shared/options/geometry.ts';

/** Boxes of a JP2 file that contain other boxes. */
const PARENTS: readonly string[] = ['jp2h'];
const CHANNEL = 6;

/** Returns the size of a JP2 image, and whether one of its channels is opacity. Source: ISO/IEC 15444-1, annex I. */
export function readJp2(bytes: Buffer): Size & { readonly hasAlpha: boolean } {
  let size = { width: 0, height: 0 };
  let hasAlpha = false;
  for (let at = 0; at + 8 <= bytes.length; ) {
    const [length, type] = [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)];
    const body = bytes.subarray(at + 8);
    if (type === 'ihdr' && body.length >= 8)
      size = { width: body.readUInt32BE(4), height: body.readUInt32BE(0) };
    if (type === 'cdef')
      for (let channel = 2; channel + CHANNEL <= Math.min(length - 8, body.length); channel += CHANNEL)
        hasAlpha ||= body.readUInt16BE(channel + 2) === 1;
    // The rest of the file, or a length of 64 bits, which only image data need.
    if (length < 8) break;
    at += PARENTS.includes(type) ? 8 : length;
  }
  return { ...size, hasAlpha };
}
