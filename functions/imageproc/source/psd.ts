import sharp from 'sharp';
import { ConversionError } from '../../shared/errors.ts';
import { encodePng } from '../encode/png-file.ts';
import { type Pixels, render } from '../pixels.ts';
import type { Foreign } from './foreign.ts';
import { encodeSrgb, labToRgb } from './lab.ts';
import { checkSourcePixels } from './limits.ts';

// Hand-written because only the merged image is needed, which Photoshop stores after the layers. Packages for
// PSD read layers, but not all color modes and depths. Format: Adobe Photoshop File Formats Specification.

const MODES = { bitmap: 0, gray: 1, indexed: 2, rgb: 3, cmyk: 4, duotone: 8, lab: 9 } as const;
const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 1: 1, 2: 1, 3: 3, 4: 4, 8: 1, 9: 3 };
const ICC_RESOURCE = 1039;
const RESOLUTION_RESOURCE = 1005;
const VERSION_RESOURCE = 1057;

interface Header {
  readonly width: number;
  readonly height: number;
  readonly channels: number;
  readonly depth: number;
  readonly mode: number;
  readonly large: boolean;
  readonly palette: Buffer;
  readonly transparent: boolean;
  readonly data: Buffer;
}

/** Reads the merged image of a Photoshop document. */
export function readPsd(bytes: Buffer, maxPixels: number): Foreign {
  const large = bytes.readUInt16BE(4) === 2;
  const [height, width] = [bytes.readUInt32BE(14), bytes.readUInt32BE(18)];
  const [channels, depth, mode] = [bytes.readUInt16BE(12), bytes.readUInt16BE(22), bytes.readUInt16BE(24)];
  checkSourcePixels(width, height, maxPixels);
  if (width < 1 || height < 1 || channels < 1 || channels > 56) throw new Error('The PSD header is invalid.');
  if (CHANNELS[mode] === undefined || ![1, 8, 16, 32].includes(depth)) {
    const message = `The source is a Photoshop document with an unsupported color mode or bit depth (mode ${mode}, ${depth} bits).`;
    throw new ConversionError('UNSUPPORTED_SOURCE', message);
  }
  const palette = section(bytes, 26, false);
  const resources = section(bytes, palette.end, false);
  const layers = section(bytes, resources.end, large);
  const { icc, density } = readResources(resources.data);
  const header: Header = {
    ...{ width, height, channels, depth, mode, large },
    palette: palette.data,
    transparent: layers.data.length >= (large ? 10 : 6) && layers.data.readInt16BE(large ? 8 : 4) < 0,
    data: bytes.subarray(layers.end),
  };
  const details = { ...(icc && { icc }), ...(density && { density }) };
  return { frames: 1, width, height, ...details, decode: () => decode(header, icc) };
}

/** Returns a section of the file, which starts with its length. */
function section(bytes: Buffer, at: number, large: boolean) {
  const head = large ? 8 : 4;
  const length = large ? Number(bytes.readBigUInt64BE(at)) : bytes.readUInt32BE(at);
  const end = at + head + length;
  if (end > bytes.length) throw new Error('A section of the PSD file ends past the end of the file.');
  return { data: bytes.subarray(at + head, end), end };
}

function readResources(data: Buffer) {
  let icc: Buffer | undefined;
  let density: { x: number; y: number } | undefined;
  for (let at = 0; at + 12 <= data.length && data.toString('latin1', at, at + 4) === '8BIM'; ) {
    const id = data.readUInt16BE(at + 4);
    const nameLength = data[at + 6]! + 1;
    const size = at + 6 + nameLength + (nameLength % 2);
    const length = data.readUInt32BE(size);
    const content = data.subarray(size + 4, size + 4 + length);
    if (id === ICC_RESOURCE) icc = content;
    if (id === VERSION_RESOURCE && content[4] === 0) {
      const message =
        'The source is a Photoshop document without a merged image. Save it with maximum compatibility enabled.';
      throw new ConversionError('UNSUPPORTED_SOURCE', message);
    }
    if (id === RESOLUTION_RESOURCE && length >= 16) {
      density = { x: content.readUInt32BE(0) / 65_536, y: content.readUInt32BE(8) / 65_536 };
    }
    at = size + 4 + length + (length % 2);
  }
  return { icc, density };
}

async function decode(header: Header, icc: Buffer | undefined): Promise<Pixels> {
  const { width, height, mode, depth, transparent } = header;
  const used = CHANNELS[mode]!;
  const hasAlpha = transparent && header.channels > used && mode !== MODES.bitmap && mode !== MODES.indexed;
  const planes = readPlanes(header, used + (hasAlpha ? 1 : 0));
  const channels = hasAlpha ? 4 : 3;
  const deep = depth > 8;
  const samples = new (deep ? Uint16Array : Uint8Array)(width * height * channels);
  const max = deep ? 65_535 : 255;
  const convert = colorReader(header, planes, max);
  for (let pixel = 0; pixel < width * height; pixel += 1) {
    const at = pixel * channels;
    const [red, green, blue] = convert(pixel);
    if (!hasAlpha) {
      samples.set([red, green, blue], at);
      continue;
    }
    // Photoshop stores colors blended with white.
    const alpha = planes[used]![pixel]!;
    const unmatte = (value: number) => (alpha === 0 ? max : Math.max(0, max - ((max - value) * max) / alpha));
    samples.set([unmatte(red), unmatte(green), unmatte(blue), alpha], at);
  }
  const pixels = { samples, width, height, channels } as const;
  if (!icc || mode !== MODES.rgb || depth !== 8) return pixels;
  return render(sharp(encodePng(pixels, { icc }), { limitInputPixels: false }), 8);
}

type Plane = Uint8Array | Uint16Array;

function colorReader({ mode, palette }: Header, planes: readonly Plane[], max: number) {
  const [first, second, third, fourth] = planes as readonly [Plane, Plane, Plane, Plane];
  return (at: number): readonly [number, number, number] => {
    switch (mode) {
      case MODES.rgb:
        return [first[at]!, second[at]!, third[at]!];
      case MODES.indexed: {
        const index = first[at]!;
        return [palette[index]!, palette[index + 256]!, palette[index + 512]!];
      }
      case MODES.cmyk: {
        // Photoshop stores inverted ink.
        const black = fourth[at]! / max;
        return [first[at]! * black, second[at]! * black, third[at]! * black];
      }
      case MODES.lab: {
        const [a, b] = [second[at]! / max, third[at]! / max];
        const [red, green, blue] = labToRgb((first[at]! / max) * 100, a * 255 - 128, b * 255 - 128);
        return [red * max, green * max, blue * max];
      }
      default:
        return [first[at]!, first[at]!, first[at]!];
    }
  };
}

/** Reads the first planes of the merged image, one sample for each pixel. */
function readPlanes({ width, height, channels, depth, large, data }: Header, count: number): Plane[] {
  const compression = data.readUInt16BE(0);
  if (compression > 1) throw new Error(`The PSD compression method ${compression} is not supported.`);
  const rowBytes = depth === 1 ? Math.ceil(width / 8) : (width * depth) / 8;
  const raw =
    compression === 0
      ? data.subarray(2)
      : unpack(data, rowBytes, {
          rows: height * count,
          countBytes: height * channels * (large ? 4 : 2),
          large,
        });
  if (raw.length < rowBytes * height * count) throw new Error('The PSD file is truncated.');
  return Array.from({ length: count }, (_, index) => {
    const plane = raw.subarray(index * rowBytes * height, (index + 1) * rowBytes * height);
    if (depth === 8) return plane;
    const length = width * height;
    if (depth === 16) return Uint16Array.from({ length }, (_, at) => plane.readUInt16BE(at * 2));
    if (depth === 32) return Uint16Array.from({ length }, (_, at) => fromFloat(plane.readFloatBE(at * 4)));
    // A set bit is black.
    return Uint8Array.from({ length }, (_, at) => {
      const x = at % width;
      const byte = plane[Math.floor(at / width) * rowBytes + (x >> 3)]!;
      return (byte >> (7 - (x & 7))) & 1 ? 0 : 255;
    });
  });
}

/** Returns 16 bits of a linear sample, where 1 is white. */
function fromFloat(value: number): number {
  return encodeSrgb(value) * 65_535;
}

/** Unpacks rows in PackBits compression, which are preceded by their lengths. */
function unpack(
  data: Buffer,
  rowBytes: number,
  { rows, countBytes, large }: { rows: number; countBytes: number; large: boolean },
): Buffer {
  const result = Buffer.alloc(rows * rowBytes);
  let at = 2 + countBytes;
  for (let row = 0; row < rows; row += 1) {
    const length = large ? data.readUInt32BE(2 + row * 4) : data.readUInt16BE(2 + row * 2);
    const end = at + length;
    let to = row * rowBytes;
    const rowEnd = to + rowBytes;
    while (at < end && to < rowEnd) {
      const head = data.readInt8(at);
      at += 1;
      if (head >= 0) {
        const copied = data.copy(result, to, at, Math.min(at + head + 1, at + rowEnd - to));
        at += head + 1;
        to += copied;
      } else if (head !== -128) {
        result.fill(data[at]!, to, Math.min(to + 1 - head, rowEnd));
        at += 1;
        to += 1 - head;
      }
    }
    at = end;
  }
  return result;
}
