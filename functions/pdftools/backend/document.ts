import type { Size } from '../../shared/options/parameters.ts';
import type { Frame } from '../frame.ts';

export type Colour = 'rgb' | 'gray' | 'mono';

/** What to draw of a page, and how. */
export interface Drawing extends Frame {
  /** Degrees clockwise, beside the page's own turn. */
  readonly rotate: number;
  readonly colour: Colour;
  readonly transparent: boolean;
}

/** Pixels, row by row, 8 bits a channel: grey, RGB, RGBA. */
export interface Raster extends Size {
  readonly pixels: Uint8Array;
  readonly channels: 1 | 3 | 4;
  /** Nothing was drawn though the page has content. */
  readonly empty?: boolean;
}

/** An open PDF, whichever engine opened it; pages count from 1. */
export interface PdfDocument {
  readonly pageCount: number;
  /** Points of a page's crop box, turned as the page says. */
  pageSize(page: number): Promise<Size>;
  /** The raster may be a view that the next call invalidates. */
  draw(page: number, drawing: Drawing): Promise<Raster>;
  close(): Promise<void>;
}

/** An engine refuses a document, or one of its pages. */
export class PdfFailure extends Error {
  override readonly name = 'PdfFailure';
  readonly reason: 'password' | 'damaged';

  constructor(reason: 'password' | 'damaged', message: string, cause?: unknown) {
    super(message, { cause });
    this.reason = reason;
  }
}
