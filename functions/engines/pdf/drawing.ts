import { ConversionError } from '../../shared/errors.ts';
import { applyGeometry, parseGeometry, type Size } from '../../shared/options/geometry.ts';
import type { PageImage, PdfOptions } from './options.ts';

type Color = 'rgb' | 'gray' | 'mono';

/** How pages are drawn. The same for all pages of a conversion. */
export interface Drawing {
  /** Degrees clockwise, added to the page's own rotation. */
  readonly rotate: number;
  readonly color: Color;
  readonly transparent: boolean;
  /** Whether to draw comments, form fields and other annotations. */
  readonly annotations: boolean;
  /** Whether to cut white edges. */
  readonly trim: boolean;
}

/** How a page is drawn: the size of the whole page in pixels, the requested part of it, and its resolution. */
interface Frame {
  readonly page: Size;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  /** Dots per inch across and down, written into the file. */
  readonly density: Resolution;
}

type Resolution = readonly [x: number, y: number];

/** One page and the pixels it is drawn on. */
export interface PageFrame extends Frame {
  /** Page number, from 1. */
  readonly number: number;
}

/** The document that is drawn, as an engine opens it. */
export interface PdfSource {
  /** Random ID. Only a process that has already opened this source for this conversion reuses it. */
  readonly id: string;
  readonly path: string;
  readonly password: string | undefined;
  /** Whether to use the crop box of pages instead of their whole media box. */
  readonly cropBox: boolean;
}

/** How images are written. */
export interface Encoding {
  readonly format: PageImage;
  /** Quality of JPEG, WebP and AVIF, from 1 to 100. */
  readonly quality: number;
}

/** A finished image. */
export interface Drawn {
  /** Page number, or 0 if the image contains several pages. */
  readonly page: number;
  readonly path: string;
}

/** Returns the name of the file with the pixels of a page that another engine has drawn. */
export function rasterName(page: number): string {
  return `raster-${page}`;
}

/** Returns the name of an image: of one page, or of all pages in one file. */
export function imageName(page: number | 'all', extension: string): string {
  return page === 'all' ? `pages.${extension}` : `page-${page}.${extension}`;
}

/** Returns the bytes per pixel of a drawing. */
export function channelsOf({ transparent, color }: Drawing): 1 | 3 | 4 {
  if (transparent) return 4;
  return color === 'rgb' ? 3 : 1;
}

/**
 * Maximum pixels of a whole page's longer side, even if a crop selects only a part. Exceeds a page of 50 m at 600
 * DPI.
 */
const MAX_PIXELS = 10_000_000;

/** Bounds of the resolution (DPI) that is written into a file. JPEG has 16 bits for it. */
const WRITTEN_RESOLUTION = { min: 1, max: 65_535 } as const;

/**
 * Computes the frame of a page of `points` (1/72 inch, with the document's rotation) from the size, rotation
 * and crop options.
 * @throws ConversionError `BAD_PARAMETER` if the crop is outside the page, `RESULT_TOO_LARGE` if the whole
 * page is too large even for a crop.
 */
export function framePage(points: Size, options: PdfOptions): Frame {
  const displayed = options.rotate % 180 === 0 ? points : rotated(points);
  const asked = resolutionOf(displayed, options);
  const plain = pageSize(displayed, asked, options);
  const geometry = options.resize === undefined ? undefined : parseGeometry(options.resize);
  const page = geometry ? applyGeometry(geometry, plain) : plain;
  const resolution: Resolution = [
    (asked[0] * page.width) / plain.width,
    (asked[1] * page.height) / plain.height,
  ];
  // The engine's coordinates are 32-bit integers. The condition is negated so that NaN is rejected too.
  if (!(Math.max(page.width, page.height) <= MAX_PIXELS)) {
    throw new ConversionError(
      'RESULT_TOO_LARGE',
      `The whole page would be ${page.width}x${page.height} pixels. The maximum is ${MAX_PIXELS} pixels per side.`,
    );
  }
  const { left = 0, top = 0 } = options;
  if (left >= page.width || top >= page.height) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameters '-x' and '-y' must be inside the page, which is ${page.width}x${page.height} pixels, got ${left} and ${top}.`,
      { parameter: left >= page.width ? '-x' : '-y' },
    );
  }
  const width = Math.min(options.cropWidth || page.width, page.width - left);
  const height = Math.min(options.cropHeight || page.height, page.height - top);
  const density = [written(resolution[0]), written(resolution[1])] as const;
  return { page, left, top, width, height, density };
}

/** Returns dots per inch across and down. Exact sides override the long side, which overrides the resolution. */
function resolutionOf(points: Size, options: PdfOptions): Resolution {
  const { width, height } = sidesOf(options);
  const x = width && (width * 72) / points.width;
  const y = height && (height * 72) / points.height;
  if (x !== undefined) return [x, y ?? x];
  if (y !== undefined) return [y, y];
  if (options.longSide !== undefined) {
    const resolution = (options.longSide * 72) / Math.max(points.width, points.height);
    return [resolution, resolution];
  }
  const { resolution, xResolution = resolution, yResolution = resolution } = options;
  return [xResolution, yResolution];
}

/** Returns the size of a whole page in pixels. */
function pageSize(points: Size, [x, y]: Resolution, options: PdfOptions): Size {
  const { width, height } = sidesOf(options);
  return {
    width: width ?? pixels((points.width * x) / 72),
    height: height ?? pixels((points.height * y) / 72),
  };
}

function sidesOf({ width, height, scaleToX, scaleToY }: PdfOptions) {
  return { width: width ?? given(scaleToX), height: height ?? given(scaleToY) };
}

function written(resolution: number): number {
  const { min, max } = WRITTEN_RESOLUTION;
  return Math.min(max, Math.max(min, resolution));
}

function given(side: number | undefined): number | undefined {
  return side === -1 ? undefined : side;
}

/** Rounds up to whole pixels, as pdftoppm does. Ignores the rounding errors of single precision. */
function pixels(side: number): number {
  return Math.max(1, Math.ceil(Number(side.toFixed(3))));
}

function rotated({ width, height }: Size): Size {
  return { width: height, height: width };
}
