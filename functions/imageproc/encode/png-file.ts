import { crc32, deflateSync } from 'node:zlib';
import type { Sharp } from 'sharp';
import sharp from 'sharp';
import type { Resolution } from '../options/values.ts';
import { open, type Pixels } from '../pixels.ts';

/** Metadata that a PNG can contain. */
export interface PngExtras {
  readonly icc?: Buffer | undefined;
  /** EXIF data without the `Exif\0\0` prefix. */
  readonly exif?: Buffer | undefined;
  readonly xmp?: Buffer | undefined;
}

interface PngLayout {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: number;
  /** 0 gray, 2 RGB, 3 palette, 6 RGBA. */
  readonly colorType: 0 | 2 | 3 | 6;
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

/** Writes pixels as an uncompressed PNG, so that sharp reads them together with a color profile or other metadata. */
export function encodePng(pixels: Pixels, { icc, exif, xmp }: PngExtras): Buffer {
  const { samples, width, height, channels } = pixels;
  const deep = samples instanceof Uint16Array;
  const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  const rows = deep ? Buffer.from(bytes).swap16() : bytes;
  const head = chunk(
    'IHDR',
    headerOf({ width, height, bitDepth: deep ? 16 : 8, colorType: channels === 4 ? 6 : 2 }),
  );
  const rowBytes = width * channels * (deep ? 2 : 1);
  return Buffer.concat([
    SIGNATURE,
    head,
    ...(icc ? [chunk('iCCP', Buffer.concat([Buffer.from('icc\0\0'), deflateSync(icc)]))] : []),
    ...(exif ? [chunk('eXIf', exif)] : []),
    ...(xmp ? [chunk('iTXt', Buffer.concat([Buffer.from('XML:com.adobe.xmp\0\0\0\0\0'), xmp]))] : []),
    chunk('IDAT', deflateSync(filterNone(rows, rowBytes), { level: 0 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

interface IndexedImage {
  readonly width: number;
  readonly height: number;
  readonly bitDepth: 1 | 2 | 4 | 8;
  /** An index or shade for each pixel. */
  readonly values: Uint8Array;
  /** RGBA for each index, or `undefined` for shades of gray. */
  readonly palette: readonly (readonly [number, number, number, number])[] | undefined;
  /** zlib level, 0 to 9. */
  readonly level: number;
}

/**
 * Writes a palette or gray image with the given bits per pixel. Unlike libvips, it never quantizes colors that all
 * fit into the palette.
 */
export function encodeIndexedPng({ width, height, bitDepth, values, palette, level }: IndexedImage): Buffer {
  const rowBytes = Math.ceil((width * bitDepth) / 8);
  const head = headerOf({ width, height, bitDepth, colorType: palette ? 3 : 0 });
  const parts = [SIGNATURE, chunk('IHDR', head)];
  if (palette) {
    parts.push(chunk('PLTE', Buffer.from(palette.flatMap((color) => color.slice(0, 3)))));
    const lastTranslucent = palette.findLastIndex((color) => color[3] < 255);
    if (lastTranslucent >= 0)
      parts.push(chunk('tRNS', Buffer.from(palette.slice(0, lastTranslucent + 1).map((color) => color[3]))));
  }
  const rows = filterNone(bitDepth === 8 ? values : pack(values, width, bitDepth), rowBytes);
  parts.push(chunk('IDAT', deflateSync(rows, { level })), chunk('IEND', Buffer.alloc(0)));
  return Buffer.concat(parts);
}

function headerOf({ width, height, bitDepth, colorType }: PngLayout): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header[8] = bitDepth;
  header[9] = colorType;
  return header;
}

/** Returns a chunk with a type and data. */
function chunk(type: string, data: Buffer): Buffer {
  const result = Buffer.alloc(data.length + 12);
  result.writeUInt32BE(data.length, 0);
  result.write(type, 4, 'latin1');
  data.copy(result, 8);
  result.writeUInt32BE(crc32(result.subarray(4, data.length + 8)), data.length + 8);
  return result;
}

/** Prepends the filter byte 0 (none) to each row. */
function filterNone(rows: Uint8Array, rowBytes: number): Buffer {
  const height = rows.length / rowBytes;
  const result = Buffer.alloc(rows.length + height);
  for (let y = 0; y < height; y += 1) {
    result.set(rows.subarray(y * rowBytes, (y + 1) * rowBytes), y * (rowBytes + 1) + 1);
  }
  return result;
}

/** Packs several values into each byte, starting with the highest bits. */
function pack(values: Uint8Array, width: number, bitDepth: number): Uint8Array {
  const rowBytes = Math.ceil((width * bitDepth) / 8);
  const height = values.length / width;
  const packed = new Uint8Array(rowBytes * height);
  for (let y = 0, from = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1, from += 1) {
      const place = x * bitDepth;
      const at = y * rowBytes + (place >> 3);
      packed[at] = packed[at]! | (values[from]! << (8 - bitDepth - (place & 7)));
    }
  }
  return packed;
}

/** Opens pixels in sharp with metadata to keep. */
export function openWith(pixels: Pixels, extras: PngExtras | undefined): Sharp {
  if (!extras) return open(pixels);
  return keepExtras(sharp(encodePng(pixels, extras), { limitInputPixels: false }), extras);
}

/** Keeps the metadata of a pipeline's source. */
export function keepExtras(pipeline: Sharp, { icc, exif, xmp }: PngExtras): Sharp {
  if (icc) pipeline.keepIccProfile();
  if (exif) pipeline.keepExif();
  return xmp ? pipeline.keepXmp() : pipeline;
}

const JPEG_START_BYTES = 2;
const PNG_START_BYTES = 33;
const MAX_JFIF_DENSITY = 65_535;

/** Adds a JFIF header with a resolution in pixels per inch. libvips leaves it out when it strips metadata. */
export function setJpegDensity(jpeg: Buffer, density: Resolution | undefined): Buffer {
  if (!density || jpeg.readUInt16BE(2) === 0xffe0) return jpeg;
  const header = Buffer.from('ffe000104a46494600010101000000000000', 'hex');
  const bounded = (value: number) => Math.min(MAX_JFIF_DENSITY, Math.max(1, Math.round(value)));
  header.writeUInt16BE(bounded(density.x), 12);
  header.writeUInt16BE(bounded(density.y), 14);
  return Buffer.concat([jpeg.subarray(0, JPEG_START_BYTES), header, jpeg.subarray(JPEG_START_BYTES)]);
}

/** Sets the resolution of a PNG, or removes it: libvips writes 25.4 pixels per inch if the resolution is unknown. */
export function setPngDensity(png: Buffer, density: Resolution | undefined): Buffer {
  const parts = [png.subarray(0, PNG_START_BYTES)];
  if (density) {
    const data = Buffer.alloc(9, 1);
    data.writeUInt32BE(Math.round(density.x / 0.0254), 0);
    data.writeUInt32BE(Math.round(density.y / 0.0254), 4);
    parts.push(chunk('pHYs', data));
  }
  for (const { type, bytes } of chunksOf(png)) if (type !== 'IHDR' && type !== 'pHYs') parts.push(bytes);
  return Buffer.concat(parts);
}

/** Yields the chunks of a PNG, each with its data and as it stands in the file. */
export function* chunksOf(png: Buffer) {
  for (let at = SIGNATURE.length; at + 12 <= png.length; ) {
    const end = at + 12 + png.readUInt32BE(at);
    const type = png.toString('latin1', at + 4, at + 8);
    yield { type, data: png.subarray(at + 8, end - 4), bytes: png.subarray(at, end) };
    at = end;
  }
}
