import type { ForeignKind, ImageKind } from './detect.ts';
import { TiffReader } from './tiff-reader.ts';

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
    };
  }
}

const OWN: readonly string[] = ['jpg', 'png', 'webp', 'gif', 'tiff', 'svg', 'avif'] satisfies ImageKind[];

/** Whether only ImageMagick reads a kind of image. */
export function isForeign(kind: ImageKind | ForeignKind): kind is ForeignKind {
  return !OWN.includes(kind);
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
