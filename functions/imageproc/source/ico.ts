import sharp from 'sharp';
import { type Pixels, render, withAlpha } from '../pixels.ts';
import { type BmpHeader, decodeBmp, readBmpHeader } from './bmp.ts';
import type { Foreign } from './foreign.ts';
import { checkSourcePixels } from './limits.ts';

const PNG = Buffer.from('89504e470d0a1a0a', 'hex');
const ENTRY_BYTES = 16;

/** Reads a Windows icon or cursor. Its images are the frames, the largest and deepest one first. */
export function readIco(bytes: Buffer, maxPixels: number): Foreign {
  const count = bytes.readUInt16LE(4);
  const images = Array.from({ length: count }, (_, index) => {
    const entry = 6 + index * ENTRY_BYTES;
    const length = bytes.readUInt32LE(entry + 8);
    const offset = bytes.readUInt32LE(entry + 12);
    return describe(bytes.subarray(offset, offset + length));
  }).filter((image) => image !== undefined);
  images.sort((one, other) => other.width * other.height - one.width * one.height || other.bits - one.bits);
  const [first] = images;
  if (!first) throw new Error('The icon file contains no image.');
  for (const { width, height } of images) checkSourcePixels(width, height, maxPixels);
  const { width, height } = first;
  return { frames: images.length, width, height, decode: (frame) => images[frame]!.decode() };
}

/** Reads one image of an icon: a PNG, or a bitmap of double height whose lower half is a mask. */
function describe(data: Buffer) {
  if (data.subarray(0, 8).equals(PNG)) {
    const [width, height] = [data.readUInt32BE(16), data.readUInt32BE(20)];
    return { width, height, bits: 32, decode: async () => withAlpha(await render(sharp(data), 8)) };
  }
  if (data.length < 40) return undefined;
  const doubled = readBmpHeader(data, 0);
  const header = { ...doubled, height: Math.max(1, Math.floor(doubled.height / 2)) };
  const { width, height, bits } = header;
  return { width, height, bits, decode: () => decodeIcon(data.subarray(header.length), header) };
}

function decodeIcon(data: Buffer, header: BmpHeader): Pixels {
  const { width, height, bits } = header;
  const colors = { ...header, masks: [0xff0000, 0xff00, 0xff, 0xff000000] } as const;
  const pixels = decodeBmp(data, bits === 32 ? colors : header, true);
  const clear = bits === 32 && pixels.samples.every((sample, at) => at % 4 < 3 || sample === 0);
  if (bits === 32 && !clear) return pixels;

  // Older icons store transparency in a mask.
  const start = Math.ceil((width * bits) / 32) * 4 * height;
  const rowBytes = Math.ceil(width / 32) * 4;
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const byte = data[start + (height - 1 - y) * rowBytes + (x >> 3)] ?? 0;
      pixels.samples[(y * width + x) * 4 + 3] = (byte >> (7 - (x & 7))) & 1 ? 0 : 255;
    }
  }
  return pixels;
}
