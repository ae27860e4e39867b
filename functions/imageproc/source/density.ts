import type { Resolution } from '../options/values.ts';
import type { ImageKind } from './detect.ts';
import { type Nclx, unlikeSrgb } from './nclx.ts';
import { type Directory, TiffReader } from './tiff.ts';

/** Returns the resolution stored in a file, in pixels per inch. sharp reports only the horizontal one. */
export function densityOf(kind: ImageKind, bytes: Buffer, page: number): Resolution | undefined {
  try {
    const found = READERS[kind]?.(bytes, page);
    return found && found.x > 0 && found.y > 0 && Number.isFinite(found.x * found.y) ? found : undefined;
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

const READERS: Partial<Record<ImageKind, (bytes: Buffer, page: number) => Resolution | undefined>> = {
  jpg: jfifDensity,
  png: physDensity,
  tiff: tiffDensity,
};

/**
 * Reads the JFIF header, which is the first segment if there is one. Its units are 1 for inches and 2 for
 * centimeters.
 */
function jfifDensity(bytes: Buffer): Resolution | undefined {
  if (bytes.readUInt16BE(2) !== 0xffe0 || bytes.toString('latin1', 6, 11) !== 'JFIF\0') return undefined;
  const factor = [undefined, 1, 2.54][bytes[13]!];
  return factor === undefined
    ? undefined
    : { x: bytes.readUInt16BE(14) * factor, y: bytes.readUInt16BE(16) * factor };
}

/** Reads the resolution of a PNG, which is in pixels per meter. */
function physDensity(bytes: Buffer): Resolution | undefined {
  for (const { type, data } of pngHeaderChunks(bytes)) {
    if (type !== 'pHYs' || data[8] !== 1) continue;
    return { x: data.readUInt32BE(0) * 0.0254, y: data.readUInt32BE(4) * 0.0254 };
  }
  return undefined;
}

const X_RESOLUTION = 282;
const Y_RESOLUTION = 283;
const RESOLUTION_UNIT = 296;

function tiffDensity(bytes: Buffer, page: number): Resolution | undefined {
  const reader = new TiffReader(bytes);
  let index = 0;
  for (const directory of reader.directories()) {
    if (index === page) return densityIn(reader, directory);
    index += 1;
  }
  return undefined;
}

function densityIn(reader: TiffReader, directory: Directory): Resolution | undefined {
  const factor = [undefined, undefined, 1, 2.54][reader.value(directory, RESOLUTION_UNIT) ?? 2];
  const x = reader.value(directory, X_RESOLUTION);
  const y = reader.value(directory, Y_RESOLUTION);
  return factor && x && y ? { x: x * factor, y: y * factor } : undefined;
}

const SIGNATURE_BYTES = 8;

/** Yields the chunks of a PNG that precede its pixels. Stops at a truncated chunk. */
function* pngHeaderChunks(bytes: Buffer): Generator<{ type: string; data: Buffer }> {
  for (let at = SIGNATURE_BYTES; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    const type = bytes.toString('latin1', at + 4, at + 8);
    if (type === 'IDAT' || at + 12 + length > bytes.length) return;
    yield { type, data: bytes.subarray(at + 8, at + 8 + length) };
    at += 12 + length;
  }
}

/** Returns the colors that a PNG declares by numbers, if they are not those of sRGB. */
export function readCicp(bytes: Buffer): Nclx | undefined {
  const data = [...pngHeaderChunks(bytes)].find(({ type }) => type === 'cICP')?.data;
  return data?.length === 4 ? unlikeSrgb({ primaries: data[0]!, transfer: data[1]! }) : undefined;
}

/**
 * Whether libvips would ignore parts of a PNG: its gamma (as in ImageMagick, a gamma above 0.75 without a color
 * profile means linear colors), or EXIF data that ImageMagick and others write into a text chunk.
 */
export function isUnusualPng(bytes: Buffer): boolean {
  const chunks = [...pngHeaderChunks(bytes)];
  const has = (...types: readonly string[]) => chunks.some(({ type }) => types.includes(type));
  const gamma =
    chunks.find(({ type, data }) => type === 'gAMA' && data.length === 4)?.data.readUInt32BE(0) ?? 0;
  const isLinear = gamma > 75_000 && !has('sRGB', 'iCCP', 'cICP');
  const isText = ({ type, data }: { type: string; data: Buffer }) =>
    /^[zt][TE][EX]t$/.test(type) && /^Raw profile type (exif|APP1)\0/.test(data.toString('latin1', 0, 30));
  return isLinear || (!has('eXIf') && chunks.some(isText));
}
