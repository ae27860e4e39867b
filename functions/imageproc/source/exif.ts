import { TiffReader } from './tiff-reader.ts';

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
