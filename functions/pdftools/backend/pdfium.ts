import { ConversionError } from '../../shared/errors.ts';
import type { Size } from '../../shared/options/parameters.ts';
import { type Drawing, type PdfDocument, PdfFailure, type Raster } from './document.ts';
import { PdfiumCanvas } from './pdfium-canvas.ts';
import { checkPictures } from './pdfium-pictures.ts';
import { allocate, NONE, type Pdfium, startModule } from './pdfium-start.ts';

const PASSWORD_ERROR = 4;
/** `FPDF_FORMFILLINFO`, all of whose callbacks we leave out. */
const FORM_INFO_BYTES = 256;
const FORM_INFO_VERSION = 2;
/** Points; ten times what PDF 2.0 asks readers to take. */
const LONGEST_SIDE = 144_000;
type Box = readonly [left: number, bottom: number, right: number, top: number];
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

/**
 * Runs one step inside PDFium; whatever it throws is an abort of the whole instance, or leaves something behind in it. Where memory ran out, even what went
 * well lacks something.
 * @throws ConversionError `SOURCE_TOO_LARGE`
 */
function guarded<Value>(pdfium: Pdfium, step: () => Value): Value {
  try {
    const value = step();
    if (!pdfium.exhausted) return value;
  } catch (thrown) {
    if (thrown instanceof PdfFailure && !pdfium.exhausted) throw thrown;
    started = undefined;
    if (!pdfium.exhausted) throw thrown;
  }
  started = undefined;
  throw new ConversionError('SOURCE_TOO_LARGE', 'The document needs more memory than a conversion may take.');
}

/**
 * Opens a document with PDFium. The caller closes it.
 * @throws PdfFailure, `SOURCE_TOO_LARGE` and, when PDFium aborts, its `RuntimeError`.
 */
export async function openWithPdfium(
  bytes: Uint8Array,
  password: string,
  { mediaBox }: { mediaBox: boolean },
): Promise<PdfDocument> {
  const pdfium = await running();
  return guarded(pdfium, () => new PdfiumDocument(pdfium, bytes, password, mediaBox));
}

class PdfiumDocument implements PdfDocument {
  readonly pageCount: number;
  readonly #pdfium: Pdfium;
  readonly #bytes: number;
  readonly #document: number;
  readonly #mediaBox: boolean;
  /** The page that is loaded, from 1, and its handle. */
  #page = 0;
  #loaded = NONE;
  #form = NONE;
  #formInfo = NONE;
  readonly #canvas: PdfiumCanvas;

  constructor(pdfium: Pdfium, bytes: Uint8Array, password: string, mediaBox: boolean) {
    this.#pdfium = pdfium;
    this.#mediaBox = mediaBox;
    this.#canvas = new PdfiumCanvas(pdfium);
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
    return guarded(this.#pdfium, () => this.#pageSize(page));
  }

  async draw(page: number, drawing: Drawing): Promise<Raster> {
    return guarded(this.#pdfium, () => {
      this.#pageSize(page);
      const loaded = this.#load(page);
      checkPictures(this.#pdfium, loaded);
      return this.#canvas.draw({ page: loaded, form: this.#form }, drawing);
    });
  }

  async close(): Promise<void> {
    guarded(this.#pdfium, () => this.#free());
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
    this.#unload();
    this.#canvas.release();
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
    const size = this.#sizeOf(this.#load(page));
    const media = this.#mediaBoxOf(this.#loaded);
    if (media === undefined) return size;
    // A page shows of its media box what its crop box leaves, so where their sides are the same, they are.
    if (isSame(size, media)) return size;
    // Takes effect when the page is loaded next.
    this.#pdfium._FPDFPage_SetCropBox(this.#loaded, ...media);
    this.#unload();
    return this.#sizeOf(this.#load(page));
  }

  #sizeOf(loaded: number): Size {
    const pdfium = this.#pdfium;
    return { width: pdfium._FPDF_GetPageWidthF(loaded), height: pdfium._FPDF_GetPageHeightF(loaded) };
  }

  #mediaBoxOf(loaded: number): Box | undefined {
    const pdfium = this.#pdfium;
    const at = allocate(pdfium, 16);
    const known = pdfium._FPDFPage_GetMediaBox(loaded, at, at + 4, at + 8, at + 12);
    const box = floats(pdfium, at, 4) as unknown as Box;
    pdfium.wasmExports.free(at);
    return known ? box : undefined;
  }

  /** Loads a page, all of whose content is read at that, and keeps it until another one is asked for. */
  #load(page: number): number {
    if (this.#page === page) return this.#loaded;
    this.#unload();
    const pdfium = this.#pdfium;
    const loaded = pdfium._FPDF_LoadPage(this.#document, page - 1);
    if (loaded === NONE) throw new PdfFailure('damaged', `PDFium cannot load page ${page}.`);
    if (this.#form !== NONE) pdfium._FORM_OnAfterLoadPage(loaded, this.#form);
    this.#page = page;
    this.#loaded = loaded;
    return loaded;
  }

  #unload(): void {
    if (this.#loaded === NONE) return;
    if (this.#form !== NONE) this.#pdfium._FORM_OnBeforeClosePage(this.#loaded, this.#form);
    this.#pdfium._FPDF_ClosePage(this.#loaded);
    this.#page = 0;
    this.#loaded = NONE;
  }
}

/** Whether a page, which may be turned, is as large as a box. */
function isSame({ width, height }: Size, [left, bottom, right, top]: Box): boolean {
  const [across, up] = [Math.fround(right - left), Math.fround(top - bottom)];
  return (width === across && height === up) || (width === up && height === across);
}

function floats(pdfium: Pdfium, at: number, count: number): number[] {
  return [...new Float32Array(pdfium.HEAPU8.buffer, at, count)];
}
