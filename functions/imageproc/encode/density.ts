import type { Resolution } from '../options/resolution.ts';
import { chunk } from './png-file.ts';

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
  let at = PNG_START_BYTES;
  while (png.toString('latin1', at + 4, at + 8) !== 'IDAT') {
    const end = at + 12 + png.readUInt32BE(at);
    if (png.toString('latin1', at + 4, at + 8) !== 'pHYs') parts.push(png.subarray(at, end));
    at = end;
  }
  return Buffer.concat([...parts, png.subarray(at)]);
}
