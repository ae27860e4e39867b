import { readFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import sharp from 'sharp';
import type { Size } from '../../shared/options/geometry.ts';
import type { Resolution } from '../options/resolution.ts';
import { damaged } from '../source/limits.ts';
import { hasAdobeMarker } from './jpeg.ts';
import { readJp2 } from './jpeg-2000.ts';
import { type PdfLayout, placeImage } from './layout.ts';
import { PdfWriter } from './writer.ts';

export interface PdfRequest {
  /** A JPEG or a JPEG 2000, which is kept byte for byte, or PNGs. */
  readonly frames: readonly string[];
  readonly target: string;
  readonly density: Resolution | undefined;
  readonly layout: PdfLayout;
  /** Quality of the JPEGs that opaque frames become. Other frames are compressed without loss. */
  readonly quality: number | undefined;
  /** Whether a JPEG is rotated according to its EXIF orientation. */
  readonly autoOrient: boolean;
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
    const image = await embed(pdf, bytes, request.quality).catch(damaged);
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

async function embed(pdf: PdfWriter, bytes: Buffer, quality: number | undefined): Promise<Embedded> {
  if (bytes[0] === 0xff && bytes[1] === 0xd8) return embedJpeg(pdf, bytes);
  return bytes.toString('latin1', 4, 8) === 'jP  ' ? embedJp2(pdf, bytes) : embedPng(pdf, bytes, quality);
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

async function embedJpeg(pdf: PdfWriter, bytes: Buffer): Promise<Embedded> {
  const { width, height, channels, icc, orientation = 1 } = await sharp(bytes).metadata();
  const profile = icc?.toString('latin1', 16, 20) === PROFILES[channels] ? icc : undefined;
  const space = profile
    ? `[/ICCBased ${pdf.stream(`/N ${channels} /Filter /FlateDecode`, deflateSync(profile!))} 0 R]`
    : SPACES[channels];
  // Adobe's programs store CMYK inverted.
  const decode = channels === 4 && hasAdobeMarker(bytes) ? ' /Decode [1 0 1 0 1 0 1 0]' : '';
  const object = pdf.stream(`${imageEntries({ width, height }, space)} /Filter /DCTDecode${decode}`, bytes);
  return { width, height, object, orientation };
}

async function embedPng(pdf: PdfWriter, bytes: Buffer, quality: number | undefined): Promise<Embedded> {
  const image = sharp(bytes, { limitInputPixels: false });
  const { width, height, hasAlpha, channels: stored, isPalette } = await image.metadata();
  const size = { width, height };
  const isGray = stored <= 2 && !isPalette;
  if (!hasAlpha && quality !== undefined) {
    const jpeg = await image
      .jpeg({ quality, chromaSubsampling: quality >= 90 ? '4:4:4' : '4:2:0' })
      .toBuffer();
    return { ...(await embedJpeg(pdf, jpeg)), orientation: 1 };
  }
  const raw = await image
    .toColorspace(isGray ? 'b-w' : 'srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  const { channels } = raw.info;
  const colors = hasAlpha ? channels - 1 : channels;
  let mask = '';
  let pixels = raw.data;
  if (hasAlpha) {
    const count = width * height;
    const alpha = Buffer.alloc(count);
    pixels = Buffer.alloc(count * colors);
    for (let pixel = 0; pixel < count; pixel += 1) {
      raw.data.copy(pixels, pixel * colors, pixel * channels, pixel * channels + colors);
      alpha[pixel] = raw.data[pixel * channels + colors]!;
    }
    if (alpha.some((value) => value < 255)) {
      const object = pdf.stream(
        `${imageEntries(size, '/DeviceGray')} /Filter /FlateDecode`,
        deflateSync(alpha),
      );
      mask = ` /SMask ${object} 0 R`;
    }
  }
  const entries = `${imageEntries(size, SPACES[colors])} /Filter /FlateDecode${mask}`;
  return { ...size, object: pdf.stream(entries, deflateSync(pixels)), orientation: 1 };
}

function imageEntries({ width, height }: Size, space: string | undefined): string {
  return `/Type /XObject /Subtype /Image /Width ${width} /Height ${height} /ColorSpace ${space} /BitsPerComponent 8`;
}

function fixed(value: number): string {
  return String(Number(value.toFixed(3)));
}
