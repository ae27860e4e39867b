import type { Frame } from '../frame.ts';
import type { PageImage } from '../options.ts';

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
