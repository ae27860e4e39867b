import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import type { Size } from '../shared/options/geometry.ts';
import { encodePngImage } from './encode/png.ts';
import { chunksOf } from './encode/png-file.ts';
import type { Resolution } from './options/values.ts';
import { isGray, isOpaque, isPhoto, open, render, withoutAlpha } from './pixels.ts';
import { damaged } from './source/detect.ts';

export interface PdfRequest {
  /** A JPEG or a JPEG 2000, whose pixels are kept as they are, or PNGs. */
  readonly frames: readonly string[];
  readonly target: string;
  readonly density: Resolution | undefined;
  readonly layout: PdfLayout;
  /** The opaque frames that become JPEGs. `smaller` means photos, and others if that makes them smaller. */
  readonly jpegs: 'all' | 'smaller' | 'photos' | 'none';
  readonly quality: number;
  /** Whether a JPEG is rotated according to its EXIF orientation. */
  readonly autoOrient: boolean;
  /** Whether a JPEG loses its metadata. */
  readonly strip: boolean;
}

/** An image in a PDF. */
interface Embedded extends Size {
  readonly object: number;
  /** EXIF orientation, 1 for an upright image. */
  readonly orientation: number;
}

/** Transformations of the unit square for each EXIF orientation. */
const ORIENTATIONS: Readonly<Record<number, readonly [number, number, number, number, number, number]>> = {
  1: [1, 0, 0, 1, 0, 0],
  2: [-1, 0, 0, 1, 1, 0],
  3: [-1, 0, 0, -1, 1, 1],
  4: [1, 0, 0, -1, 0, 1],
  5: [0, -1, -1, 0, 1, 1],
  6: [0, -1, 1, 0, 0, 1],
  7: [0, 1, 1, 0, 0, 0],
  8: [0, 1, -1, 0, 1, 0],
};

/** Writes a PDF with a page for each frame. */
export async function writePdf(request: PdfRequest): Promise<void> {
  const { frames, target, density, layout, autoOrient } = request;
  const pdf = new PdfWriter(target);
  const tree = pdf.reserve();
  const pages: number[] = [];
  for (const frame of frames) {
    const bytes = readFileSync(frame);
    const image = await embed(pdf, bytes, request).catch(damaged);
    const orientation = autoOrient && ORIENTATIONS[image.orientation] ? image.orientation : 1;
    const isTurned = orientation >= 5;
    const upright = isTurned ? { width: image.height, height: image.width } : image;
    const turned = isTurned && density ? { x: density.y, y: density.x } : density;
    const { page, left, bottom, width, height, clip } = placeImage(upright, turned, layout);
    const place = `${fixed(width)} 0 0 ${fixed(height)} ${fixed(left)} ${fixed(bottom)} cm`;
    const turn = orientation === 1 ? '' : ` ${ORIENTATIONS[orientation]!.join(' ')} cm`;
    const inside = clip ? `${clip.map(fixed).join(' ')} re W n ` : '';
    const content = pdf.stream('', Buffer.from(`q ${inside}${place}${turn} /I Do Q`));
    const resources = `<< /XObject << /I ${image.object} 0 R >> >>`;
    const box = `[0 0 ${fixed(page.width)} ${fixed(page.height)}]`;
    const entries = `/Type /Page /Parent ${tree} 0 R /MediaBox ${box}`;
    pages.push(pdf.object(`<< ${entries} /Resources ${resources} /Contents ${content} 0 R >>`));
  }
  const kids = pages.map((page) => `${page} 0 R`).join(' ');
  pdf.object(`<< /Type /Pages /Count ${pages.length} /Kids [${kids}] >>`, tree);
  pdf.close(pdf.object(`<< /Type /Catalog /Pages ${tree} 0 R >>`));
}

type Compression = Pick<PdfRequest, 'jpegs' | 'quality' | 'strip'>;

async function embed(pdf: PdfWriter, bytes: Buffer, compression: Compression): Promise<Embedded> {
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return embedJpeg(pdf, bytes, compression);
  return bytes.toString('latin1', 4, 8) === 'jP  ' ? embedJp2(pdf, bytes) : embedPng(pdf, bytes, compression);
}

/** Embeds a JPEG 2000, which names its own colors. */
function embedJp2(pdf: PdfWriter, bytes: Buffer): Embedded {
  const { width, height, hasAlpha } = readJp2(bytes);
  const entries = `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /Filter /JPXDecode`;
  const object = pdf.stream(`${entries}${hasAlpha ? ' /SMaskInData 1' : ''}`, bytes);
  return { width, height, object, orientation: 1 };
}

/** Device color spaces by number of channels. */
const SPACES: Readonly<Record<number, string>> = { 1: '/DeviceGray', 3: '/DeviceRGB', 4: '/DeviceCMYK' };
/** The color space in the header of a profile, by number of channels. */
const PROFILES: Readonly<Record<number, string>> = { 1: 'GRAY', 3: 'RGB ', 4: 'CMYK' };

async function embedJpeg(pdf: PdfWriter, bytes: Buffer, { strip = false } = {}): Promise<Embedded> {
  const { width, height, channels, icc, orientation = 1 } = await sharp(bytes).metadata();
  const profile = icc?.toString('latin1', 16, 20) === PROFILES[channels] ? icc : undefined;
  const space = profile
    ? `[/ICCBased ${pdf.stream(`/N ${channels} /Filter /FlateDecode`, deflateSync(profile!))} 0 R]`
    : SPACES[channels];
  // Adobe's programs store CMYK inverted.
  const decode = channels === 4 && hasAdobeMarker(bytes) ? ' /Decode [1 0 1 0 1 0 1 0]' : '';
  const data = strip ? withoutMetadata(bytes) : bytes;
  const object = pdf.stream(`${imageEntries({ width, height }, space)} /Filter /DCTDecode${decode}`, data);
  return { width, height, object, orientation };
}

async function embedPng(pdf: PdfWriter, bytes: Buffer, { jpegs, quality }: Compression): Promise<Embedded> {
  const image = sharp(bytes, { limitInputPixels: false });
  const whole = await render(image.clone(), 8);
  const pixels = withoutAlpha(whole);
  const isTransparent = !isOpaque(whole);
  const jpeg = () =>
    open(pixels)
      .toColorspace(isGray(pixels) ? 'b-w' : 'srgb')
      .jpeg({ quality, chromaSubsampling: quality >= 90 ? '4:4:4' : '4:2:0' })
      .toBuffer();
  const isJpeg = jpegs === 'all' || (jpegs !== 'none' && isPhoto(pixels));
  if (!isTransparent && isJpeg) return embedJpeg(pdf, await jpeg());
  const options = { define: [], quality: undefined, interlace: undefined };
  const png = await encodePngImage(pixels, { options, density: undefined, extras: undefined });
  const other = jpegs === 'smaller' && !isTransparent ? await jpeg() : png;
  if (other.length < png.length) return embedJpeg(pdf, other);
  const alpha =
    isTransparent && (await image.extractChannel('alpha').png({ compressionLevel: 7 }).toBuffer());
  const mask = alpha ? ` /SMask ${embedChunks(pdf, alpha)} 0 R` : '';
  return { width: pixels.width, height: pixels.height, object: embedChunks(pdf, png, mask), orientation: 1 };
}

/** Embeds the data of a PNG without an alpha channel as they are: PDF has the same compression. */
function embedChunks(pdf: PdfWriter, png: Buffer, entries = ''): number {
  const chunks = [...chunksOf(png)];
  const dataOf = (type: string) =>
    Buffer.concat(chunks.filter((chunk) => chunk.type === type).map(({ data }) => data));
  const [header, palette] = [dataOf('IHDR'), dataOf('PLTE')];
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  const [bits, colorType] = [header[8]!, header[9]!];
  const channels = colorType === 2 ? 3 : 1;
  const space =
    colorType === 3
      ? `[/Indexed /DeviceRGB ${palette.length / 3 - 1} <${palette.toString('hex')}>]`
      : SPACES[channels];
  const decoding = `/Predictor 15 /Colors ${channels} /BitsPerComponent ${bits} /Columns ${width}`;
  const image = imageEntries({ width, height }, space, bits);
  return pdf.stream(`${image} /Filter /FlateDecode /DecodeParms << ${decoding} >>${entries}`, dataOf('IDAT'));
}

function imageEntries({ width, height }: Size, space: string | undefined, bits = 8): string {
  return `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace ${space} /BitsPerComponent ${bits}`;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(3)));
}

/** Pixels per inch of an image that states none, as in browsers. */
const DEFAULT_DENSITY = 96;
/** Maximum side of a page in points, which old readers have (ISO 32000-1, annex C). */
const MAX_SIDE = 14_400;
const POINTS = 72 / 25.4;

/** How images are placed on pages. */
interface PdfLayout {
  /** Size of the pages in millimeters. By default, each page is as large as its image. */
  readonly paper: Size | undefined;
  /** Margin in millimeters. */
  readonly margin: number;
  readonly fit: 'into' | 'shrink' | 'fill';
}

/** A page in points with the lower left corner and the size of its image. */
interface PlacedImage extends Size {
  readonly page: Size;
  readonly left: number;
  readonly bottom: number;
  /** Part of the page inside the margin, if the image is larger: left, bottom, width and height. */
  readonly clip?: readonly [number, number, number, number];
}

/** Places an upright image of `size` pixels. A page turns to the shape of its image. */
function placeImage(size: Size, density: Resolution | undefined, layout: PdfLayout): PlacedImage {
  const { x, y } = density ?? { x: DEFAULT_DENSITY, y: DEFAULT_DENSITY };
  const natural = { width: (size.width * 72) / x, height: (size.height * 72) / y };
  const { paper, fit } = layout;
  const margin = layout.margin * POINTS;
  if (!paper) {
    const longest = Math.max(natural.width, natural.height) + 2 * margin;
    const scale = Math.min(1, MAX_SIDE / longest);
    const [width, height] = [natural.width * scale, natural.height * scale];
    const edge = margin * scale;
    return {
      page: { width: width + 2 * edge, height: height + 2 * edge },
      width,
      height,
      left: edge,
      bottom: edge,
    };
  }
  const upright = { width: paper.width * POINTS, height: paper.height * POINTS };
  const isTurned = natural.width > natural.height !== upright.width > upright.height;
  const page = isTurned ? { width: upright.height, height: upright.width } : upright;
  const room = { width: page.width - 2 * margin, height: page.height - 2 * margin };
  const [across, down] = [room.width / natural.width, room.height / natural.height];
  const scale =
    fit === 'fill' ? Math.max(across, down) : Math.min(across, down, fit === 'shrink' ? 1 : Number.MAX_VALUE);
  const [width, height] = [natural.width * scale, natural.height * scale];
  const placed = { page, width, height, left: (page.width - width) / 2, bottom: (page.height - height) / 2 };
  return fit === 'fill' ? { ...placed, clip: [margin, margin, room.width, room.height] } : placed;
}

/** Writes a PDF object by object, so that only one image at a time is in memory. */
class PdfWriter {
  readonly #file: number;
  readonly #offsets: number[] = [];
  #position = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w');
    // The bytes above 127 tell programs that the file is not text.
    this.#write(Buffer.from('%PDF-1.5\n%\xe2\xe3\xcf\xd3\n', 'latin1'));
  }

  /** Reserves the number of an object that is written later. */
  reserve(): number {
    return this.#offsets.push(0);
  }

  /** Writes an object and returns its number. */
  object(content: string, number = this.reserve()): number {
    this.#offsets[number - 1] = this.#position;
    this.#write(Buffer.from(`${number} 0 obj\n${content}\nendobj\n`, 'latin1'));
    return number;
  }

  stream(dictionary: string, data: Uint8Array): number {
    const number = this.reserve();
    this.#offsets[number - 1] = this.#position;
    this.#write(
      Buffer.from(`${number} 0 obj\n<< ${dictionary} /Length ${data.length} >>\nstream\n`, 'latin1'),
    );
    this.#write(data);
    this.#write(Buffer.from('\nendstream\nendobj\n'));
    return number;
  }

  close(catalog: number): void {
    const size = this.#offsets.length + 1;
    const entries = this.#offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`);
    const start = this.#position;
    const trailer = `trailer\n<< /Size ${size} /Root ${catalog} 0 R >>\nstartxref\n${start}\n%%EOF\n`;
    this.#write(Buffer.from(`xref\n0 ${size}\n0000000000 65535 f \n${entries.join('')}${trailer}`, 'latin1'));
    closeSync(this.#file);
  }

  #write(bytes: Uint8Array): void {
    for (let sent = 0; sent < bytes.length; ) sent += writeSync(this.#file, bytes, sent);
    this.#position += bytes.length;
  }
}

/** Yields the segments of a JPEG before its image data. Their content begins after four bytes. */
function* segments(bytes: Buffer): Generator<readonly [marker: number, segment: Buffer]> {
  for (let at = 2; at + 4 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    if (bytes[at + 1] === 0xda) return;
    yield [bytes[at + 1]!, bytes.subarray(at, at + 2 + bytes.readUInt16BE(at + 2))];
  }
}

/** Returns the image data of a JPEG with its end marker, or nothing if they are truncated. No earlier bytes look like this marker. */
function imageData(bytes: Buffer): Buffer {
  const start = [...segments(bytes)].reduce((at, [, { length }]) => at + length, 2);
  const end = bytes.indexOf('\xff\xd9', start, 'latin1');
  return bytes.subarray(start, end < 0 ? start : end + 2);
}

/** Removes comments, EXIF data with the place of a photo, and whatever follows the image. A PDF states the color profile itself. */
function withoutMetadata(bytes: Buffer): Buffer {
  const kept = [...segments(bytes)].filter(([marker]) => !/^(e[1-df]|fe)$/.test(marker.toString(16)));
  return Buffer.concat([bytes.subarray(0, 2), ...kept.map(([, segment]) => segment), imageData(bytes)]);
}

/** Whether a JPEG has an APP14 segment of Adobe. */
function hasAdobeMarker(bytes: Buffer): boolean {
  return [...segments(bytes)].some(([marker, segment]) => marker === 0xee && segment.indexOf('Adobe') === 4);
}

/** Whether viewers of PDFs read a JPEG: it is complete, baseline, extended or progressive, and not compressed arithmetically. */
export function isDct(bytes: Buffer): boolean {
  const isKnown = [...segments(bytes)].some(
    ([marker, segment]) => marker >= 0xc0 && marker <= 0xc2 && segment[4] === 8,
  );
  return isKnown && imageData(bytes).length > 0;
}

/** Boxes of a JP2 file that contain other boxes. */
const PARENTS: readonly string[] = ['jp2h'];
const CHANNEL = 6;

/** Returns the size of a JP2 image, and whether one of its channels is opacity. Source: ISO/IEC 15444-1, annex I. */
function readJp2(bytes: Buffer): Size & { readonly hasAlpha: boolean } {
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
