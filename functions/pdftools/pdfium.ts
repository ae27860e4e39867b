import type { Size } from '../shared/parameters.ts';
import { type Drawing, type PdfDocument, PdfFailure, type Raster } from './document.ts';
import { type Pdfium, startModule } from './pdfium-start.ts';

const PASSWORD_ERROR = 4;
const NONE = 0;
/** `FPDF_FORMFILLINFO`, all of whose callbacks we leave out. */
const FORM_INFO_BYTES = 256;
const FORM_INFO_VERSION = 2;
/** Points; ten times what PDF 2.0 asks readers to take. */
const LONGEST_SIDE = 144_000;
const WHITE = 0xffff_ffff;
/** Pixels drawn at a time: an image of 100 megapixels must not leave a 400 MB heap behind, which never shrinks. */
const BAND_PIXELS = 16_000_000;

// fpdfview.h: bitmap formats and render flags.
const FORMAT = { gray: { id: 1, bytes: 1 }, rgbx: { id: 3, bytes: 4 }, rgba: { id: 4, bytes: 4 } } as const;
const ANNOTATIONS = 0x01;
const GRAYSCALE = 0x08;
const RGB_ORDER = 0x10;
const NOT_SMOOTH = 0x1000 | 0x2000 | 0x4000;

let started: Promise<Pdfium> | undefined;
let faces = '';

/** Starts PDFium ahead of the first document, with the faces of a folder. */
export async function startPdfium(fonts: string): Promise<void> {
  faces = fonts;
  await running();
}

/** After an abort an instance is unusable, and the next call makes a new one. */
function running(): Promise<Pdfium> {
  started ??= startModule(faces);
  return started;
}

/** Runs one step inside PDFium; whatever it throws is an abort of the whole instance. */
function guarded<Value>(step: () => Value): Value {
  try {
    return step();
  } catch (thrown) {
    if (!(thrown instanceof PdfFailure)) started = undefined;
    throw thrown;
  }
}

/**
 * Opens a document with PDFium. The caller closes it.
 * @throws PdfFailure and, when PDFium aborts, its `RuntimeError`.
 */
export async function openWithPdfium(
  bytes: Uint8Array,
  password: string,
  { mediaBox }: { mediaBox: boolean },
): Promise<PdfDocument> {
  const pdfium = await running();
  return guarded(() => new PdfiumDocument(pdfium, bytes, password, mediaBox));
}

class PdfiumDocument implements PdfDocument {
  readonly pageCount: number;
  readonly #pdfium: Pdfium;
  readonly #bytes: number;
  readonly #document: number;
  readonly #mediaBox: boolean;
  #form = NONE;
  #formInfo = NONE;
  #raster = NONE;

  constructor(pdfium: Pdfium, bytes: Uint8Array, password: string, mediaBox: boolean) {
    this.#pdfium = pdfium;
    this.#mediaBox = mediaBox;
    this.#bytes = allocate(pdfium, bytes.length);
    pdfium.HEAPU8.set(bytes, this.#bytes);
    const secret = Buffer.from(`${password}\0`);
    const secretAt = allocate(pdfium, secret.length);
    pdfium.HEAPU8.set(secret, secretAt);
    this.#document = pdfium._FPDF_LoadMemDocument(this.#bytes, bytes.length, password ? secretAt : NONE);
    const error = pdfium._FPDF_GetLastError();
    pdfium.HEAPU8.fill(0, secretAt, secretAt + secret.length);
    pdfium.wasmExports.free(secretAt);
    if (this.#document === NONE) {
      pdfium.wasmExports.free(this.#bytes);
      throw new PdfFailure(error === PASSWORD_ERROR ? 'password' : 'damaged', `PDFium's error ${error}.`);
    }
    this.pageCount = pdfium._FPDF_GetPageCount(this.#document);
    if (this.pageCount < 1) {
      this.#free();
      throw new PdfFailure('damaged', 'PDFium finds no pages.');
    }
    if (pdfium._FPDF_GetFormType(this.#document) !== NONE) this.#startForm();
  }

  async pageSize(page: number): Promise<Size> {
    return guarded(() => this.#pageSize(page));
  }

  /** Draws in bands, which takes a page's content once per 16 megapixels. */
  async draw(page: number, drawing: Drawing): Promise<Raster> {
    return guarded(() => {
      this.#pageSize(page);
      return this.#onPage(page, (loaded) => this.#drawPage(loaded, drawing));
    });
  }

  async close(): Promise<void> {
    guarded(() => this.#free());
  }

  /** Without it PDFium leaves form fields out. */
  #startForm(): void {
    const pdfium = this.#pdfium;
    this.#formInfo = allocate(pdfium, FORM_INFO_BYTES);
    pdfium.HEAPU8.fill(0, this.#formInfo, this.#formInfo + FORM_INFO_BYTES);
    pdfium.HEAPU8[this.#formInfo] = FORM_INFO_VERSION;
    this.#form = pdfium._FPDFDOC_InitFormFillEnvironment(this.#document, this.#formInfo);
  }

  #free(): void {
    this.#release();
    if (this.#form !== NONE) this.#pdfium._FPDFDOC_ExitFormFillEnvironment(this.#form);
    if (this.#formInfo !== NONE) this.#pdfium.wasmExports.free(this.#formInfo);
    this.#pdfium._FPDF_CloseDocument(this.#document);
    this.#pdfium.wasmExports.free(this.#bytes);
  }

  #pageSize(page: number): Size {
    const size = this.#mediaBox ? this.#loadedSize(page) : this.#listedSize(page);
    // A damaged box: pdf.js takes a letter page instead.
    if (Math.max(size.width, size.height) > LONGEST_SIDE) {
      throw new PdfFailure('damaged', `PDFium takes page ${page} for ${size.width}x${size.height} points.`);
    }
    return size;
  }

  #listedSize(page: number): Size {
    const pdfium = this.#pdfium;
    const at = allocate(pdfium, 8);
    const known = pdfium._FPDF_GetPageSizeByIndexF(this.#document, page - 1, at);
    const [width, height] = floats(pdfium, at, 2) as [number, number];
    pdfium.wasmExports.free(at);
    if (!known) throw new PdfFailure('damaged', `PDFium does not know page ${page}.`);
    return { width, height };
  }

  #loadedSize(page: number): Size {
    const pdfium = this.#pdfium;
    return this.#onPage(page, (loaded) => ({
      width: pdfium._FPDF_GetPageWidthF(loaded),
      height: pdfium._FPDF_GetPageHeightF(loaded),
    }));
  }

  #onPage<Value>(page: number, use: (loaded: number) => Value): Value {
    const pdfium = this.#pdfium;
    if (this.#mediaBox) this.#widen(page);
    const loaded = pdfium._FPDF_LoadPage(this.#document, page - 1);
    if (loaded === NONE) throw new PdfFailure('damaged', `PDFium cannot load page ${page}.`);
    if (this.#form !== NONE) pdfium._FORM_OnAfterLoadPage(loaded, this.#form);
    const value = use(loaded);
    if (this.#form !== NONE) pdfium._FORM_OnBeforeClosePage(loaded, this.#form);
    pdfium._FPDF_ClosePage(loaded);
    return value;
  }

  /** Makes the crop box of a page its media box; takes effect when the page is loaded next. */
  #widen(page: number): void {
    const pdfium = this.#pdfium;
    const loaded = pdfium._FPDF_LoadPage(this.#document, page - 1);
    if (loaded === NONE) return;
    const at = allocate(pdfium, 16);
    if (pdfium._FPDFPage_GetMediaBox(loaded, at, at + 4, at + 8, at + 12)) {
      const [left, bottom, right, top] = floats(pdfium, at, 4) as [number, number, number, number];
      pdfium._FPDFPage_SetCropBox(loaded, left, bottom, right, top);
    }
    pdfium.wasmExports.free(at);
    pdfium._FPDF_ClosePage(loaded);
  }

  #drawPage(loaded: number, drawing: Drawing): Raster {
    const raster = this.#drawBands(loaded, drawing);
    if (!isUniform(raster.pixels, drawing.transparent ? 0 : 255)) return raster;
    const content =
      this.#pdfium._FPDFPage_CountObjects(loaded) + this.#pdfium._FPDFPage_GetAnnotCount(loaded);
    return { ...raster, empty: content > 0 };
  }

  #drawBands(loaded: number, drawing: Drawing): Raster {
    const { width, height, colour, transparent } = drawing;
    const { bytes } = FORMAT[formatOf(drawing)];
    const padded = bytes === 4 && !transparent;
    const rows = Math.min(height, Math.max(1, Math.floor(BAND_PIXELS / width)));
    if (rows === height) {
      const pixels = this.#drawBand(loaded, drawing, 0, height);
      return { pixels, width, height, channels: bytes, padded };
    }
    const channels = colour === 'rgb' && !transparent ? 3 : bytes;
    const pixels = Buffer.allocUnsafe(width * height * channels);
    for (let top = 0; top < height; top += rows) {
      const band = this.#drawBand(loaded, drawing, top, Math.min(rows, height - top));
      const target = pixels.subarray(top * width * channels);
      if (padded) dropPadding(band, target);
      else target.set(band);
    }
    return { pixels, width, height, channels, padded: false };
  }

  /** Answers a view of PDFium's memory, good until the next call. */
  #drawBand(loaded: number, drawing: Drawing, top: number, rows: number): Uint8Array {
    const pdfium = this.#pdfium;
    const { page, width, rotate, transparent } = drawing;
    const { id, bytes } = FORMAT[formatOf(drawing)];
    const stride = width * bytes;
    this.#release();
    this.#raster = allocate(pdfium, stride * rows);
    const bitmap = pdfium._FPDFBitmap_CreateEx(width, rows, id, this.#raster, stride);
    pdfium._FPDFBitmap_FillRect(bitmap, 0, 0, width, rows, transparent ? 0 : WHITE);
    const place = [-drawing.left, -(drawing.top + top), page.width, page.height, rotate / 90] as const;
    const flags = flagsOf(drawing);
    pdfium._FPDF_RenderPageBitmap(bitmap, loaded, ...place, flags);
    if (this.#form !== NONE) pdfium._FPDF_FFLDraw(this.#form, bitmap, loaded, ...place, flags);
    pdfium._FPDFBitmap_Destroy(bitmap);
    return pdfium.HEAPU8.subarray(this.#raster, this.#raster + stride * rows);
  }

  #release(): void {
    if (this.#raster !== NONE) this.#pdfium.wasmExports.free(this.#raster);
    this.#raster = NONE;
  }
}

function allocate(pdfium: Pdfium, bytes: number): number {
  const at = pdfium.wasmExports.malloc(bytes);
  if (at === NONE) throw new RangeError(`PDFium has no memory for ${bytes} bytes.`);
  return at;
}

function floats(pdfium: Pdfium, at: number, count: number): number[] {
  return [...new Float32Array(pdfium.HEAPU8.buffer, at, count)];
}

function formatOf({ colour, transparent }: Drawing): keyof typeof FORMAT {
  if (transparent) return 'rgba';
  return colour === 'rgb' ? 'rgbx' : 'gray';
}

function flagsOf({ colour, transparent }: Drawing): number {
  const grey = colour === 'rgb' ? NONE : GRAYSCALE;
  const order = transparent || colour === 'rgb' ? RGB_ORDER : NONE;
  return ANNOTATIONS | grey | order | (colour === 'mono' ? NOT_SMOOTH : NONE);
}

function isUniform(bytes: Uint8Array, value: number): boolean {
  return bytes[0] === value && Buffer.compare(bytes.subarray(1), bytes.subarray(0, -1)) === 0;
}

function dropPadding(from: Uint8Array, to: Uint8Array): void {
  for (let source = 0, target = 0; source < from.length; source += 4, target += 3) {
    to[target] = from[source]!;
    to[target + 1] = from[source + 1]!;
    to[target + 2] = from[source + 2]!;
  }
}
