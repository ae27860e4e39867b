import type { Format } from '../../shared/formats.ts';
import {
  category,
  flag,
  integer,
  number,
  pageList,
  parameter,
  text,
  type ValuesOf,
} from '../../shared/options/parameters.ts';

/** Formats that pages are drawn in. */
export const PAGE_IMAGES = ['jpg', 'png', 'webp', 'avif', 'tiff'] as const satisfies readonly Format[];

const PIXELS = { min: 1, max: 16_384 } as const;
const OFFSET = { min: 0, max: 1_000_000 } as const;
const PAGE = { min: 0, max: 100_000 } as const;
const DPI = { min: 10, max: 1200 } as const;

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

/** The options `-f` and `-l`, named as in pdftoppm. */
export const pageRangeParameters = {
  firstPage: integer('-f', { ...PAGE, meaning: 'Start at this page. 0 is the first' }),
  lastPage: integer('-l', { ...PAGE, meaning: 'End at this page. 0, or a page past the end, is the last' }),
} as const;

/** Size of a drawn page. */
export const sizeParameters = {
  resolution: number('-r', { ...DPI, default: 150, meaning: 'Set the resolution in DPI' }),
  width: integer('-width', {
    ...PIXELS,
    meaning: 'Set the width of a page in pixels. Overrides the resolution',
  }),
  height: integer('-height', {
    ...PIXELS,
    meaning: 'Set the height of a page in pixels. Overrides the resolution',
  }),
} as const;

/** Options that the PDF engine understands. The names are those of pdftoppm and VeryPDF's pdf2img. */
export const pdfParameters = {
  ...category('Pages', {
    ...pageRangeParameters,
    pages: pageList('-pages', { meaning: 'Select these pages, instead of `-f` and `-l`' }),
    odd: flag('-o', { meaning: 'Select only odd pages' }),
    even: flag('-e', { meaning: 'Select only even pages' }),
    userPassword: text('-upw', { max: 127, meaning: 'Open the PDF with this user password' }),
    ownerPassword: text('-opw', { max: 127, meaning: 'Open the PDF with this owner password' }),
  }),
  ...category(
    'Size',
    {
      resolution: sizeParameters.resolution,
      xResolution: number('-rx', { ...DPI, meaning: 'Set the horizontal resolution in DPI. Overrides `-r`' }),
      yResolution: number('-ry', { ...DPI, meaning: 'Set the vertical resolution in DPI. Overrides `-r`' }),
      width: sizeParameters.width,
      height: sizeParameters.height,
      scaleToX: scaledSide('-scale-to-x', 'Same as `-width`. -1 keeps the aspect ratio'),
      scaleToY: scaledSide('-scale-to-y', 'Same as `-height`. -1 keeps the aspect ratio'),
      longSide: integer('-scale-to', { ...PIXELS, meaning: 'Set the long side of a page in pixels' }),
    },
    { outputs: PAGE_IMAGES },
  ),
  ...category(
    'Area',
    {
      cropBox: flag('-cropbox', {
        default: true,
        meaning: 'Draw the crop box of a page. `-cropbox=no` draws its media box',
      }),
      left: integer('-x', {
        ...OFFSET,
        meaning: 'Crop to an area with this left edge, in pixels of the result',
      }),
      top: integer('-y', { ...OFFSET, meaning: 'Crop to an area with this top edge' }),
      cropWidth: integer('-W', {
        ...OFFSET,
        meaning: 'Crop to an area of this width. 0 means to the right edge',
      }),
      cropHeight: integer('-H', {
        ...OFFSET,
        meaning: 'Crop to an area of this height. 0 means to the bottom edge',
      }),
      trim: flag('-trimimage', { meaning: 'Remove white edges' }),
    },
    { outputs: PAGE_IMAGES },
  ),
  ...category('Appearance', {
    rotate: parameter('-rotate', 'a multiple of 90, -9999 to 9999', quarterTurns, {
      default: 0,
      outputs: [...PAGE_IMAGES, 'pdf'],
      meaning: 'Rotate by this many degrees clockwise, a multiple of 90',
    }),
    gray: flag('-gray', { outputs: PAGE_IMAGES, meaning: 'Draw in grayscale' }),
    mono: flag('-mono', { outputs: PAGE_IMAGES, meaning: 'Draw in black and white, 1 bit per pixel' }),
    transparent: flag('-transp', {
      outputs: PAGE_IMAGES,
      meaning: 'Make the background transparent. Not for JPEG',
    }),
    hideAnnotations: flag('-hide-annotations', {
      // A caller who must not publish comments would not notice that they are still there.
      outputs: [...PAGE_IMAGES, 'txt'],
      protects: true,
      meaning: 'Leave out annotations and form fields',
    }),
    quality: integer('-quality', {
      min: 1,
      max: 100,
      default: 90,
      outputs: ['jpg', 'webp', 'avif'],
      meaning: 'Set the quality of JPEG, WebP and AVIF',
    }),
    /** Has no name, so that callers cannot set it: demo mode draws it. */
    watermark: text([], {
      pattern: /^[A-Z]+$/,
      outputs: ['pdf'],
      meaning: 'Draw this word across every page',
    }),
  }),
} as const;

export type PdfOptions = ValuesOf<typeof pdfParameters>;
