import type { Drawing, Raster } from './document.ts';
import { allocate, NONE, type Pdfium } from './pdfium-start.ts';

/** Pixels drawn at a time: an image of 100 megapixels must not leave a 400 MB heap behind, which never shrinks. */
const BAND_PIXELS = 16_000_000;

// fpdfview.h: bitmap formats and render flags. Three bytes a pixel are drawn and encoded faster than four.
const FORMAT = { gray: { id: 1, bytes: 1 }, rgb: { id: 2, bytes: 3 }, rgba: { id: 4, bytes: 4 } } as const;
const ANNOTATIONS = 0x01;
const GRAYSCALE = 0x08;
const RGB_ORDER = 0x10;
const NOT_SMOOTH = 0x1000 | 0x2000 | 0x4000;
const WHITE = 255;

/** A loaded page, and its document's form, if it has one. */
export interface PdfiumPage {
  readonly page: number;
  readonly form: number;
}

/** Draws pages into one bitmap in PDFium's memory, which lasts until the next drawing. */
export class PdfiumCanvas {
  readonly #pdfium: Pdfium;
  #raster = NONE;

  constructor(pdfium: Pdfium) {
    this.#pdfium = pdfium;
  }

  draw(on: PdfiumPage, drawing: Drawing): Raster {
    const raster = this.#drawBands(on, drawing);
    const whole = raster.width === drawing.page.width && raster.height === drawing.page.height;
    if (!whole || !isUniform(raster.pixels, drawing.transparent ? 0 : WHITE)) return raster;
    const pdfium = this.#pdfium;
    const content = pdfium._FPDFPage_CountObjects(on.page) + pdfium._FPDFPage_GetAnnotCount(on.page);
    return { ...raster, empty: content > 0 };
  }

  release(): void {
    if (this.#raster !== NONE) this.#pdfium.wasmExports.free(this.#raster);
    this.#raster = NONE;
  }

  /** A large image is drawn in bands, each of which goes through the page's content once. */
  #drawBands(on: PdfiumPage, drawing: Drawing): Raster {
    const { width, height } = drawing;
    const { bytes: channels } = FORMAT[formatOf(drawing)];
    const rows = Math.min(height, Math.max(1, Math.floor(BAND_PIXELS / width)));
    if (rows === height) {
      const pixels = this.#drawBand(on, drawing, 0, height);
      return { pixels, width, height, channels };
    }
    const pixels = Buffer.allocUnsafe(width * height * channels);
    for (let top = 0; top < height; top += rows) {
      const band = this.#drawBand(on, drawing, top, Math.min(rows, height - top));
      pixels.set(band, top * width * channels);
    }
    return { pixels, width, height, channels };
  }

  /** Answers a view of PDFium's memory, good until the next call. */
  #drawBand({ page, form }: PdfiumPage, drawing: Drawing, top: number, rows: number): Uint8Array {
    const pdfium = this.#pdfium;
    const { width, rotate, transparent } = drawing;
    const { id, bytes } = FORMAT[formatOf(drawing)];
    const stride = width * bytes;
    this.release();
    this.#raster = allocate(pdfium, stride * rows);
    pdfium.HEAPU8.fill(transparent ? 0 : WHITE, this.#raster, this.#raster + stride * rows);
    const bitmap = pdfium._FPDFBitmap_CreateEx(width, rows, id, this.#raster, stride);
    const { left, page: sides } = drawing;
    const place = [-left, -(drawing.top + top), sides.width, sides.height, rotate / 90] as const;
    const flags = flagsOf(drawing);
    pdfium._FPDF_RenderPageBitmap(bitmap, page, ...place, flags);
    if (form !== NONE) pdfium._FPDF_FFLDraw(form, bitmap, page, ...place, flags);
    pdfium._FPDFBitmap_Destroy(bitmap);
    return pdfium.HEAPU8.subarray(this.#raster, this.#raster + stride * rows);
  }
}

function formatOf({ colour, transparent }: Drawing): keyof typeof FORMAT {
  if (transparent) return 'rgba';
  return colour === 'rgb' ? 'rgb' : 'gray';
}

function flagsOf({ colour, transparent }: Drawing): number {
  const grey = colour === 'rgb' ? NONE : GRAYSCALE;
  const order = transparent || colour === 'rgb' ? RGB_ORDER : NONE;
  return ANNOTATIONS | grey | order | (colour === 'mono' ? NOT_SMOOTH : NONE);
}

function isUniform(bytes: Uint8Array, value: number): boolean {
  return bytes[0] === value && Buffer.compare(bytes.subarray(1), bytes.subarray(0, -1)) === 0;
}
