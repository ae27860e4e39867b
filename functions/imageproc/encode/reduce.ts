import { narrow, type Pixels, withoutAlpha } from '../pixels.ts';

/** The smallest form in which an image can be stored without loss. */
interface Content {
  /** Pixels with 8 bits per sample if that is lossless, and without an alpha channel if everything is opaque. */
  readonly pixels: Pixels;
  readonly isGray: boolean;
  /** Distinct colors as RGBA with an index for each pixel, if there are at most 256 of them with 8 bits per sample. */
  readonly indexed: Indexed | undefined;
}

export interface Indexed {
  readonly palette: readonly (readonly [number, number, number, number])[];
  readonly indices: Uint8Array;
}

const MAX_COLORS = 256;
const TABLE_SIZE = 1024;

/** Returns the smallest lossless representation of an image. */
export function reduce(image: Pixels): Content {
  const shallow = isNarrow(image) ? narrow(image) : image;
  const pixels = isOpaque(shallow) ? withoutAlpha(shallow) : shallow;
  return { pixels, isGray: isGray(pixels), indexed: index(pixels) };
}

/** Whether all pixels are gray. */
export function isGray({ samples, channels }: Pixels): boolean {
  for (let at = 0; at < samples.length; at += channels) {
    if (samples[at] !== samples[at + 1] || samples[at] !== samples[at + 2]) return false;
  }
  return true;
}

/** Whether all pixels are opaque. */
export function isOpaque({ samples, channels }: Pixels): boolean {
  if (channels === 3) return true;
  const max = samples instanceof Uint16Array ? 65_535 : 255;
  for (let at = 3; at < samples.length; at += 4) if (samples[at] !== max) return false;
  return true;
}

function isNarrow({ samples }: Pixels): boolean {
  return samples instanceof Uint8Array || samples.every((sample) => sample % 257 === 0);
}

/** Numbers the distinct colors, or returns `undefined` as soon as there are too many. */
function index({ samples, channels, width, height }: Pixels): Indexed | undefined {
  if (samples instanceof Uint16Array) return undefined;
  const keys = new Uint32Array(TABLE_SIZE);
  const numbers = new Int16Array(TABLE_SIZE).fill(-1);
  const palette: [number, number, number, number][] = [];
  const indices = new Uint8Array(width * height);
  for (let at = 0, pixel = 0; at < samples.length; at += channels, pixel += 1) {
    const [red, green, blue] = [samples[at]!, samples[at + 1]!, samples[at + 2]!];
    const alpha = channels === 4 ? samples[at + 3]! : 255;
    const key = ((red << 24) | (green << 16) | (blue << 8) | alpha) >>> 0;
    let slot = (Math.imul(key, 0x9e3779b1) >>> 22) % TABLE_SIZE;
    while (numbers[slot]! >= 0 && keys[slot] !== key) slot = (slot + 1) % TABLE_SIZE;
    if (numbers[slot]! < 0) {
      if (palette.length === MAX_COLORS) return undefined;
      keys[slot] = key;
      numbers[slot] = palette.length;
      palette.push([red, green, blue, alpha]);
    }
    indices[pixel] = numbers[slot]!;
  }
  return { palette, indices };
}
