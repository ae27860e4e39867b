import type { Pixels } from '../pixels.ts';
import type { Foreign } from './foreign.ts';
import { checkSourcePixels } from './limits.ts';

// Hand-written because the packages on npm read only some of the bit depths, compressions and headers. The format is
// described in Microsoft's "Bitmap Storage" and tested by Jason Summers' bmpsuite.

const FILE_HEADER_BYTES = 14;
const COMPRESSION = { rgb: 0, rle8: 1, rle4: 2, bitFields: 3, alphaBitFields: 6 } as const;

/** The fields of a bitmap header. */
export interface BmpHeader {
  readonly width: number;
  readonly height: number;
  readonly topDown: boolean;
  readonly bits: number;
  readonly compression: number;
  readonly palette: readonly (readonly [number, number, number])[];
  /** Red, green, blue and alpha bits of a pixel of 16 or 32 bits. */
  readonly masks: readonly [number, number, number, number];
  readonly density: { readonly x: number; readonly y: number } | undefined;
  /** Bytes of the header, masks and palette together. */
  readonly length: number;
}

/** Reads a Windows or OS/2 bitmap. */
export function readBmp(bytes: Buffer, maxPixels: number): Foreign {
  const header = readBmpHeader(bytes, FILE_HEADER_BYTES);
  const { width, height, density } = header;
  checkSourcePixels(width, height, maxPixels);
  const offset = bytes.readUInt32LE(10) || FILE_HEADER_BYTES + header.length;
  const decode = () => decodeBmp(bytes.subarray(offset), header, header.masks[3] !== 0);
  return { frames: 1, width, height, ...(density && { density }), decode };
}

/** Reads the header that starts at a position. @throws Error if it is invalid. */
export function readBmpHeader(bytes: Buffer, at: number): BmpHeader {
  const size = bytes.readUInt32LE(at);
  const core = size === 12;
  if (!core && (size < 16 || size > 1000))
    throw new Error(`The BMP header has an unknown size of ${size} bytes.`);
  const width = core ? bytes.readUInt16LE(at + 4) : bytes.readInt32LE(at + 4);
  const signedHeight = core ? bytes.readUInt16LE(at + 6) : bytes.readInt32LE(at + 8);
  const height = Math.abs(signedHeight);
  const bits = bytes.readUInt16LE(at + (core ? 10 : 14));
  const field = (position: number) => (size >= position + 4 ? bytes.readUInt32LE(at + position) : 0);
  const compression = core ? COMPRESSION.rgb : field(16);
  if (width < 1 || height < 1 || ![1, 2, 4, 8, 16, 24, 32].includes(bits))
    throw new Error('The BMP header is invalid.');
  if (!Object.values(COMPRESSION).some((known) => known === compression))
    throw new Error(`The BMP compression method ${compression} is not supported.`);

  const masked = compression === COMPRESSION.bitFields || compression === COMPRESSION.alphaBitFields;
  // Headers before version 2 are followed by their masks.
  const maskCount = size >= 56 ? 4 : compression === COMPRESSION.alphaBitFields ? 4 : 3;
  const extra = masked && size < 52 ? maskCount * 4 : 0;
  const mask = (index: number) => (index < maskCount ? bytes.readUInt32LE(at + 40 + index * 4) : 0);
  const masks = masked ? ([mask(0), mask(1), mask(2), mask(3)] as const) : defaultMasks(bits);

  const entryBytes = core ? 3 : 4;
  const used = bits <= 8 ? Math.min(field(32) || 2 ** bits, 2 ** bits) : 0;
  const start = at + size + extra;
  const palette = Array.from({ length: used }, (_, index) => {
    const entry = start + index * entryBytes;
    return [bytes[entry + 2] ?? 0, bytes[entry + 1] ?? 0, bytes[entry] ?? 0] as const;
  });
  const [x, y] = [field(24), field(28)];
  const density = x > 0 && y > 0 && x < 1e6 && y < 1e6 ? { x: x * 0.0254, y: y * 0.0254 } : undefined;
  const length = size + extra + (field(32) > 256 ? 0 : field(32) || used) * entryBytes;
  return { width, height, topDown: signedHeight < 0, bits, compression, palette, masks, density, length };
}

function defaultMasks(bits: number) {
  return bits === 16 ? ([0x7c00, 0x3e0, 0x1f, 0] as const) : ([0xff0000, 0xff00, 0xff, 0] as const);
}

/** Decodes the pixels after a header. Pixels that a run-length encoding leaves out stay black. */
export function decodeBmp(data: Buffer, header: BmpHeader, alpha: boolean): Pixels {
  const { width, height, topDown, bits, compression, palette, masks } = header;
  const channels = alpha ? 4 : 3;
  const samples = new Uint8Array(width * height * channels);
  const put = (x: number, y: number, red: number, green: number, blue: number, opacity: number) => {
    const at = ((topDown ? y : height - 1 - y) * width + x) * channels;
    samples[at] = red;
    samples[at + 1] = green;
    samples[at + 2] = blue;
    if (alpha) samples[at + 3] = opacity;
  };
  const putIndex = (x: number, y: number, index: number) => {
    const [red, green, blue] = palette[index] ?? [0, 0, 0];
    put(x, y, red, green, blue, 255);
  };

  if (compression === COMPRESSION.rle8 || compression === COMPRESSION.rle4) {
    decodeRle(data, header, putIndex);
    return { samples, width, height, channels };
  }
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  const [red, green, blue, opacity] = masks.map(maskReader) as [Unmask, Unmask, Unmask, Unmask];
  // The padding of the last row may be missing.
  const needed = rowBytes * (height - 1) + Math.ceil((width * bits) / 8);
  if (data.length < needed) throw new Error('The BMP file is truncated.');
  for (let y = 0; y < height; y += 1) {
    const row = data.subarray(y * rowBytes, (y + 1) * rowBytes);
    for (let x = 0; x < width; x += 1) {
      if (bits <= 8) {
        const place = x * bits;
        putIndex(x, y, (row[place >> 3]! >> (8 - bits - (place & 7))) & (2 ** bits - 1));
      } else if (bits === 24) {
        put(x, y, row[x * 3 + 2]!, row[x * 3 + 1]!, row[x * 3]!, 255);
      } else {
        const value = bits === 16 ? row.readUInt16LE(x * 2) : row.readUInt32LE(x * 4);
        put(x, y, red(value), green(value), blue(value), opacity(value));
      }
    }
  }
  return { samples, width, height, channels };
}

type Unmask = (value: number) => number;

/** Returns a function that extracts the bits of a mask from a pixel and scales them to 0–255. */
function maskReader(mask: number): Unmask {
  if (mask === 0) return () => 0;
  const low = mask & -mask;
  const divisor = low >>> 0;
  const most = Math.floor((mask >>> 0) / divisor);
  return (value) => Math.round((Math.floor(((value & mask) >>> 0) / divisor) * 255) / most);
}

/** Decodes run-length encoded indices. Bytes after the last row are ignored. */
function decodeRle(
  data: Buffer,
  { width, height, compression }: BmpHeader,
  put: (x: number, y: number, index: number) => void,
): void {
  const half = compression === COMPRESSION.rle4;
  let [x, y, at] = [0, 0, 0];
  const write = (index: number) => {
    if (x < width && y < height) put(x, y, index);
    x += 1;
  };
  const nibble = (byte: number, index: number) => (index % 2 === 0 ? byte >> 4 : byte & 15);
  while (at + 1 < data.length && y < height) {
    const count = data[at]!;
    const value = data[at + 1]!;
    at += 2;
    if (count > 0) {
      for (let index = 0; index < count; index += 1) write(half ? nibble(value, index) : value);
    } else if (value === 0) {
      x = 0;
      y += 1;
    } else if (value === 1) {
      return;
    } else if (value === 2) {
      x += data[at] ?? 0;
      y += data[at + 1] ?? 0;
      at += 2;
    } else {
      const length = half ? Math.ceil(value / 2) : value;
      for (let index = 0; index < value; index += 1) {
        const byte = data[at + (half ? index >> 1 : index)] ?? 0;
        write(half ? nibble(byte, index) : byte);
      }
      // Runs are padded to an even length.
      at += length + (length % 2);
    }
  }
}
