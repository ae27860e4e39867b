import { ConversionError } from '../shared/errors.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { flag, integer, pageList, parameter, text } from '../shared/options/parameters.ts';
import { defineTool } from '../shared/tool.ts';

const PIXELS = { min: 1, max: 16_384 } as const;
const OFFSET = { min: 0, max: 1_000_000 } as const;

/** A side in pixels, or `-1` for "by the page's shape", as pdftoppm takes it. */
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

/** PDF pages to images; the names are those of pdftoppm and of VeryPDF's pdf2img. */
export const pdftools = defineTool({
  name: 'pdftools',
  summary: 'Pages of a PDF as images.',
  source: 'file',
  formats: ['jpg', 'png', 'webp', 'avif', 'tiff'],
  paged: ['jpg', 'png', 'webp', 'avif', 'tiff'],
  parameters: {
    firstPage: integer('-f', { min: 0, max: 100_000, meaning: 'first page, from 1; 0 is the first' }),
    lastPage: integer('-l', { min: 0, max: 100_000, meaning: 'last page; 0, and past the end, is the last' }),
    pages: pageList('-pages', { meaning: 'pages as a list, instead of `-f` and `-l`' }),
    resolution: integer('-r', { min: 10, max: 1200, default: 150, meaning: 'resolution in DPI, both axes' }),
    width: integer('-width', { ...PIXELS, meaning: 'width of a page in pixels; wins over `-r`' }),
    height: integer('-height', { ...PIXELS, meaning: 'height of a page in pixels; wins over `-r`' }),
    scaleToX: scaledSide('-scale-to-x', 'the same as `-width`; -1: by the shape of the page'),
    scaleToY: scaledSide('-scale-to-y', 'the same as `-height`; -1: by the shape of the page'),
    longSide: integer('-scale-to', { ...PIXELS, meaning: 'long side of a page in pixels' }),
    gray: flag('-gray', { meaning: 'shades of grey' }),
    mono: flag('-mono', { meaning: 'black and white, 1 bit' }),
    quality: integer('-quality', { min: 1, max: 100, default: 90, meaning: 'quality of jpg, webp and avif' }),
    userPassword: text('-upw', { max: 127, meaning: 'password that opens the document' }),
    ownerPassword: text('-opw', { max: 127, meaning: 'password of its owner' }),
    rotate: parameter('-rotate', 'a multiple of 90, -9999 to 9999', quarterTurns, {
      default: 0,
      meaning: 'degrees clockwise, a multiple of 90',
    }),
    cropBox: flag('-cropbox', { default: true, meaning: "the page's crop box; off: its media box" }),
    left: integer('-x', { ...OFFSET, meaning: 'left edge of a crop, in pixels of the result' }),
    top: integer('-y', { ...OFFSET, meaning: 'top edge of a crop' }),
    cropWidth: integer('-W', { ...OFFSET, meaning: 'width of a crop; 0: to the right edge' }),
    cropHeight: integer('-H', { ...OFFSET, meaning: 'height of a crop; 0: to the bottom edge' }),
    trim: flag('-trimimage', { meaning: 'cut white edges' }),
    transparent: flag('-transp', { meaning: 'transparent background; not for jpg' }),
  },
  ignored: [
    '-aa',
    '-aaVector',
    '-freetype',
    '-thinlinemode',
    '-hide-annotations',
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
    if (options.transparent && format === 'jpg') {
      yield new ConversionError('BAD_PARAMETER', "Parameter '-transp': JPEG does not support transparency.");
    }
  },
});

export type PdftoolsTool = typeof pdftools;
