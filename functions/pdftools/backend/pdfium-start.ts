import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PDFiumModule } from '@hyzyla/pdfium';
import { packageFile } from '../../shared/package-file.ts';

/** PDFium's C interface (fpdfview.h and its neighbours), with the calls that the package's types leave out. */
export type Pdfium = Awaited<ReturnType<typeof PDFiumModule>> & {
  _FPDF_GetPageWidthF(page: number): number;
  _FPDF_GetPageHeightF(page: number): number;
  _FPDF_GetPageSizeByIndexF(document: number, index: number, size: number): number;
  _FPDF_GetFormType(document: number): number;
  _FPDFPage_CountObjects(page: number): number;
  _FPDFPage_GetAnnotCount(page: number): number;
  _FPDFPage_GetObject(page: number, index: number): number;
  _FPDFPageObj_GetType(object: number): number;
  _FPDFFormObj_CountObjects(form: number): number;
  _FPDFFormObj_GetObject(form: number, index: number): number;
  _FPDFImageObj_GetImagePixelSize(picture: number, width: number, height: number): number;
  _FPDFPage_GetMediaBox(page: number, left: number, bottom: number, right: number, top: number): number;
  _FPDFPage_SetCropBox(page: number, left: number, bottom: number, right: number, top: number): void;
  _FPDF_InitLibraryWithConfig(config: number): void;
  /** Whether a document wanted more memory than there is. */
  exhausted?: boolean;
};

/** A null pointer, and no handle. */
export const NONE = 0;

/** @throws RangeError */
export function allocate(pdfium: Pdfium, bytes: number): number {
  const at = pdfium.wasmExports.malloc(bytes);
  if (at === NONE) throw new RangeError(`PDFium has no memory for ${bytes} bytes.`);
  return at;
}

type SystemCalls = Readonly<Record<string, (...numbers: number[]) => number>>;

/** The part of `WebAssembly` that we use; the types know it only beside a browser's. */
interface Wasm {
  instantiate(program: Uint8Array, imports: unknown): Promise<{ readonly instance: unknown }>;
}
const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly: Wasm };

// PDFium carries Latin faces of its own; these bring what it lacks. Colour emoji it cannot draw.
const FACES = /^(Noto(Sans|Serif).*|wqy.*)\.(ttf|ttc|otf)$/i;
/** Bytes; the documents of our corpus need 30 MB, a picture of 100 megapixels 160 MB. */
const MOST_MEMORY = 512 * 2 ** 20;
/** The one folder of the module's own file system, which lives in its memory, that we may write. */
const FONT_FOLDER = '/tmp';
const CONFIG_VERSION = 2;
const CONFIG_BYTES = 32;
const HERE = -100;
const CREATE = 0o101;

/**
 * Starts a PDFium whose file system holds the faces of a folder, and nothing else of this machine. Without them text in
 * fonts that a document does not bring along, Chinese say, is left out; without the folder PDFium works all the same.
 */
export async function startModule(fonts: string): Promise<Pdfium> {
  const program = readFileSync(packageFile('@hyzyla/pdfium/pdfium.wasm'));
  let calls: SystemCalls = {};
  const pdfium: Pdfium = (await PDFiumModule({
    instantiateWasm: (imports, received) => {
      calls = { ...imports.env, ...imports.wasi_snapshot_preview1 } as SystemCalls;
      const grow = calls.emscripten_resize_heap!;
      const emscripten_resize_heap = (bytes: number) => {
        // A size beyond 2 GB arrives as a negative number.
        if (bytes >>> 0 <= MOST_MEMORY) return grow(bytes);
        pdfium.exhausted = true;
        return 0;
      };
      const bounded = { ...imports, env: { ...imports.env, emscripten_resize_heap } };
      wasm.instantiate(program, bounded).then(({ instance }) => {
        (received as (instance: unknown) => void)(instance);
      });
      return {};
    },
  })) as Pdfium;
  for (const face of listFaces(fonts)) writeFile(pdfium, calls, face, readFileSync(join(fonts, face)));
  pdfium._FPDF_InitLibraryWithConfig(makeConfig(pdfium));
  return pdfium;
}

function listFaces(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => FACES.test(name));
  } catch {
    return [];
  }
}

/** Writes a file by the system calls that the module itself would make. */
function writeFile(pdfium: Pdfium, calls: SystemCalls, name: string, bytes: Buffer): void {
  const at = place(pdfium, bytes);
  const path = place(pdfium, Buffer.from(`${FONT_FOLDER}/${name}\0`));
  const mode = place(pdfium, words(0o644));
  // One piece of data, and where to put how much of it was written.
  const pieces = place(pdfium, words(at, bytes.length, 0));
  const file = calls.__syscall_openat!(HERE, path, CREATE, mode);
  calls.fd_write!(file, pieces, 1, pieces + 8);
  calls.fd_close!(file);
  for (const address of [at, path, mode, pieces]) pdfium.wasmExports.free(address);
}

/** `FPDF_LIBRARY_CONFIG` with the folder as the only one that fonts are looked for in; PDFium keeps it. */
function makeConfig(pdfium: Pdfium): number {
  const folder = place(pdfium, Buffer.from(`${FONT_FOLDER}\0`));
  const folders = place(pdfium, words(folder, 0));
  const config = Buffer.alloc(CONFIG_BYTES);
  words(CONFIG_VERSION, folders).copy(config);
  return place(pdfium, config);
}

function words(...values: number[]): Buffer {
  return Buffer.from(Uint32Array.from(values).buffer);
}

function place(pdfium: Pdfium, bytes: Buffer): number {
  const at = allocate(pdfium, bytes.length);
  pdfium.HEAPU8.set(bytes, at);
  return at;
}
