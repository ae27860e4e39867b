import { ConversionError } from '../../shared/errors.ts';
import { allocate, type Pdfium } from './pdfium-start.ts';

// fpdf_edit.h: kinds of page objects.
const PICTURE = 3;
const FORM = 5;
/** Pixels; the plan of a whole town, scanned at 600 DPI, has half as many. */
const MOST_PIXELS = 1_000_000_000;

/**
 * Looks at the sizes of a loaded page's pictures before one is decoded, those in forms too.
 * @throws ConversionError `SOURCE_TOO_LARGE`
 */
export function checkPictures(pdfium: Pdfium, page: number): void {
  const sides = allocate(pdfium, 8);

  function check(object: number): void {
    const kind = pdfium._FPDFPageObj_GetType(object);
    if (kind === FORM) {
      const count = pdfium._FPDFFormObj_CountObjects(object);
      for (let index = 0; index < count; index += 1) check(pdfium._FPDFFormObj_GetObject(object, index));
    }
    if (kind !== PICTURE || !pdfium._FPDFImageObj_GetImagePixelSize(object, sides, sides + 4)) return;
    const [width = 0, height = 0] = new Uint32Array(pdfium.HEAPU8.buffer, sides, 2);
    if (width * height <= MOST_PIXELS) return;
    const message = `The document holds a picture of ${width}x${height} pixels, more than ${MOST_PIXELS} in all.`;
    throw new ConversionError('SOURCE_TOO_LARGE', message);
  }

  const count = pdfium._FPDFPage_CountObjects(page);
  for (let index = 0; index < count; index += 1) check(pdfium._FPDFPage_GetObject(page, index));
  pdfium.wasmExports.free(sides);
}
