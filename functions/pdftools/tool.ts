import { ConversionError } from '../shared/errors.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { flag, integer, number, pageList, parameter, text } from '../shared/options/parameters.ts';
import { defineTool } from '../shared/tool.ts';

const PIXELS = { min: 1, max: 16_384 } as const;
const OFFSET = { min: 0, max: 1_000_000 } as const;

/** A side in pixels, or `-1` to keep the aspect ratio, as in pdftoppm. */
function scaledSide(name: string, meaning: string) {
  const parse = (value: string) => {
    const side = /^(-1|\d{1,5})$/.test(value) ? Number(value) : 0;
    return side === -1 || (side >= PIXELS.min && side <= PIXELS.max) ? side : undefined;
  };
  return parameter(name, `-1 or an integer from ${PIXELS.min} to ${PIXELS.max}`, parse, { meaning });
}

function quarterTurns(value: string): number | undefined {
  const degrees = /^-?\d{1,4}$/.test(value) ? Number(value) : Number.NaN;
  return degrees % 90 === 0 ? ((degrees % 360) + 360) % 360 : undefined;
}

const IMAGES = ['jpg', 'png', 'webp', 'avif', 'tiff'] as const;
const DPI = { min: 10, max: 1200 } as const;

/** Converts PDF pages. The option names are those of pdftoppm and VeryPDF's pdf2img. */
export const pdftools = defineTool({
  name: 'pdftools',
  summary: 'Converts PDF pages to images or text, and rewrites PDFs.',
  source: 'file',
  formats: [...IMAGES, 'pdf', 'txt'],
  paged: [...IMAGES, 'pdf', 'txt'],
  parameters: {
    firstPage: integer('-f', { min: 0, max: 100_000, meaning: 'first page, from 1; 0 is the first' }),
    lastPage: integer('-l', {
      min: 0,
      max: 100_000,
      meaning: 'last page; 0 or a page past the end is the last',
    }),
    pages: pageList('-pages', { meaning: 'list of pages, instead of `-f` and `-l`' }),
    odd: flag('-o', { meaning: 'odd pages only' }),
    even: flag('-e', { meaning: 'even pages only' }),
    resolution: number('-r', { ...DPI, default: 150, meaning: 'resolution in DPI' }),
    xResolution: number('-rx', { ...DPI, meaning: 'horizontal resolution in DPI; overrides `-r`' }),
    yResolution: number('-ry', { ...DPI, meaning: 'vertical resolution in DPI; overrides `-r`' }),
    width: integer('-width', { ...PIXELS, meaning: 'page width in pixels; overrides the resolution' }),
    height: integer('-height', { ...PIXELS, meaning: 'page height in pixels; overrides the resolution' }),
    scaleToX: scaledSide('-scale-to-x', 'same as `-width`; -1 keeps the aspect ratio'),
    scaleToY: scaledSide('-scale-to-y', 'same as `-height`; -1 keeps the aspect ratio'),
    longSide: integer('-scale-to', { ...PIXELS, meaning: 'long side of a page in pixels' }),
    gray: flag('-gray', { meaning: 'grayscale' }),
    mono: flag('-mono', { meaning: 'black and white, 1 bit per pixel' }),
    quality: integer('-quality', {
      min: 1,
      max: 100,
      default: 90,
      meaning: 'quality of JPEG, WebP and AVIF',
    }),
    userPassword: text('-upw', { max: 127, meaning: 'user password of the PDF' }),
    ownerPassword: text('-opw', { max: 127, meaning: 'owner password of the PDF' }),
    rotate: parameter('-rotate', 'a multiple of 90, -9999 to 9999', quarterTurns, {
      default: 0,
      meaning: 'rotation in degrees clockwise, a multiple of 90',
    }),
    cropBox: flag('-cropbox', {
      default: true,
      meaning: 'draw the crop box of a page; if off, its media box',
    }),
    left: integer('-x', { ...OFFSET, meaning: 'left edge of the area to crop to, in pixels of the result' }),
    top: integer('-y', { ...OFFSET, meaning: 'top edge of that area' }),
    cropWidth: integer('-W', { ...OFFSET, meaning: 'width of that area; 0 means to the right edge' }),
    cropHeight: integer('-H', { ...OFFSET, meaning: 'height of that area; 0 means to the bottom edge' }),
    trim: flag('-trimimage', { meaning: 'remove white edges' }),
    transparent: flag('-transp', { meaning: 'transparent background; not for JPEG' }),
    hideAnnotations: flag('-hide-annotations', {
      meaning: 'leave out annotations and form fields; not for PDF',
    }),
  },
  ignored: [
    '-aa',
    '-aaVector',
    '-freetype',
    '-thinlinemode',
    '-overprint',
    '-progress',
    '-forcenum',
    '-singlefile',
    '-q',
    '-sep',
    '-jpeg',
    '-png',
    '-tiff',
    '-tiffcompression',
    '-jpegopt',
  ],
  refused: ['-defaultgrayprofile', '-defaultrgbprofile', '-defaultcmykprofile', '-displayprofile'],
  sizing: { memory: 3008, layers: ['pdf', 'pdfjs', 'image', 'fonts', 'sandbox'] },
  *validate(options, format) {
    yield* checkPageSelection(options);
    if (options.odd && options.even) {
      yield new ConversionError('BAD_PARAMETER', "Parameter '-o' cannot be combined with '-e'.");
    }
    // A caller who must not publish comments would not notice that they are still there.
    if (options.hideAnnotations && format === 'pdf') {
      const message =
        "Parameter '-hide-annotations' is not available for PDF results, which keep all annotations.";
      yield new ConversionError('BAD_PARAMETER', message);
    }
    if (options.transparent && format === 'jpg') {
      yield new ConversionError('BAD_PARAMETER', "Parameter '-transp': JPEG does not support transparency.");
    }
  },
});
