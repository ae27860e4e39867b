import type { Format } from '../../shared/formats.ts';
import {
  category,
  choice,
  flag,
  integer,
  number,
  option,
  pageList,
  resizing,
  text,
  type ValuesOf,
} from '../../shared/options/option.ts';
import { PASSWORD } from './finish-options.ts';

/** Formats that pages are drawn in. The native process writes them itself, or libvips does from its raw pixels. */
const PAGE_FORMATS = {
  jpg: { writer: 'native', isLossy: true },
  png: { writer: 'native', isLossy: false },
  webp: { writer: 'libvips', isLossy: true },
  avif: { writer: 'libvips', isLossy: true },
  tiff: { writer: 'native', isLossy: false },
} as const satisfies Partial<Record<Format, { writer: 'native' | 'libvips'; isLossy: boolean }>>;
export type PageImage = keyof typeof PAGE_FORMATS;
/** Formats that libvips writes. */
export type RasterImage = {
  [Name in PageImage]: (typeof PAGE_FORMATS)[Name]['writer'] extends 'libvips' ? Name : never;
}[PageImage];
export function isRasterImage(format: PageImage): format is RasterImage {
  return PAGE_FORMATS[format].writer === 'libvips';
}
export const PAGE_IMAGES = Object.keys(PAGE_FORMATS) as PageImage[];

/** Why a PDF does not become an office document. */
export const NOT_EDITABLE =
  'A PDF contains no paragraphs or tables that could be edited. Its text can be written as .txt by app=pdftools.';

const PIXELS = { min: 1, max: 16_384 } as const;
const OFFSET = { min: 0, max: 1_000_000 } as const;
const PAGE = { min: 0, max: 100_000 } as const;
const DPI = { min: 10, max: 1200 } as const;

/** A side in pixels, or `-1` to keep the aspect ratio, as in pdftoppm. */
function scaledSide(name: string, description: string) {
  const parse = (value: string) => {
    const side = /^(-1|\d{1,5})$/.test(value) ? Number(value) : 0;
    return side === -1 || (side >= PIXELS.min && side <= PIXELS.max) ? side : undefined;
  };
  return option(name, `-1 or an integer from ${PIXELS.min} to ${PIXELS.max}`, parse, { description });
}

/** The options `-f` and `-l`, named as in pdftoppm. */
export const pageRangeOptions = {
  firstPage: integer('-f', { ...PAGE, description: 'Start at this page. 0 means the first' }),
  lastPage: integer('-l', {
    ...PAGE,
    description: 'End at this page. 0, or a page past the end, means the last',
  }),
} as const;

/** Size of a drawn page. */
export const sizeOptions = {
  resolution: number('-r', { ...DPI, default: 150, description: 'Set the resolution in DPI' }),
  width: integer('-width', {
    ...PIXELS,
    description: 'Set the width of a page in pixels. Overrides the resolution',
  }),
  height: integer('-height', {
    ...PIXELS,
    description: 'Set the height of a page in pixels. Overrides the resolution',
  }),
  resize: resizing('Resize as in imageproc: 200x200 is at most that size'),
} as const;

/** Options that the PDF engine understands. The names are those of pdftoppm and VeryPDF's pdf2img. */
export const pdfOptions = {
  ...category('Pages', {
    ...pageRangeOptions,
    pages: pageList('-pages', { description: 'Select these pages, instead of `-f` and `-l`' }),
    odd: flag('-o', { description: 'Select only odd pages' }),
    even: flag('-e', { description: 'Select only even pages' }),
    userPassword: text('-upw', { ...PASSWORD, description: 'Open the PDF with this user password' }),
    ownerPassword: text('-opw', { ...PASSWORD, description: 'Open the PDF with this owner password' }),
  }),
  ...category(
    'Size',
    {
      resolution: sizeOptions.resolution,
      xResolution: number('-rx', {
        ...DPI,
        description: 'Set the horizontal resolution in DPI. Overrides `-r`',
      }),
      yResolution: number('-ry', {
        ...DPI,
        description: 'Set the vertical resolution in DPI. Overrides `-r`',
      }),
      width: sizeOptions.width,
      height: sizeOptions.height,
      resize: sizeOptions.resize,
      scaleToX: scaledSide('-scale-to-x', 'Same as `-width`. -1 keeps the aspect ratio'),
      scaleToY: scaledSide('-scale-to-y', 'Same as `-height`. -1 keeps the aspect ratio'),
      longSide: integer('-scale-to', {
        ...PIXELS,
        description: 'Set the long side of a page in pixels. Overrides the resolution',
      }),
    },
    { outputs: PAGE_IMAGES },
  ),
  ...category(
    'Area',
    {
      cropBox: flag('-cropbox', {
        default: true,
        description: 'Draw the crop box of a page. `-cropbox=no` draws its media box',
      }),
      left: integer('-x', {
        ...OFFSET,
        description: 'Crop to an area with this left edge, in pixels of the result',
      }),
      top: integer('-y', { ...OFFSET, description: 'Crop to an area with this top edge' }),
      cropWidth: integer('-W', {
        ...OFFSET,
        description: 'Crop to an area of this width. 0 means to the right edge',
      }),
      cropHeight: integer('-H', {
        ...OFFSET,
        description: 'Crop to an area of this height. 0 means to the bottom edge',
      }),
      trim: flag('-trimimage', { description: 'Remove white edges' }),
    },
    { outputs: PAGE_IMAGES },
  ),
  ...category('Appearance', {
    /** Degrees clockwise. The tool sets it from its own option, which can also rotate some pages. */
    rotate: number([], {
      min: 0,
      max: 270,
      default: 0,
      outputs: [...PAGE_IMAGES, 'pdf'],
      description: 'Rotate clockwise by this many degrees',
    }),
    gray: flag('-gray', { outputs: [...PAGE_IMAGES, 'pdf'], description: 'Draw in grayscale' }),
    mono: flag('-mono', {
      outputs: [...PAGE_IMAGES, 'pdf'],
      description: 'Draw in black and white, 1 bit per pixel',
    }),
    transparent: flag('-transp', {
      outputs: PAGE_IMAGES,
      description: 'Make the background transparent. JPEG does not support it',
    }),
    hideAnnotations: flag('-hide-annotations', {
      // Callers who must not publish comments would not notice that they are still there.
      outputs: [...PAGE_IMAGES, 'txt'],
      protects: true,
      description: 'Leave out annotations and form fields',
    }),
    layout: flag('-layout', {
      outputs: ['txt'],
      description: 'Keep columns and tables of a text below each other, with spaces',
    }),
    outputEncoding: choice(['-output-encoding', '--output-encoding'], ['utf-8', 'utf-8-bom'], {
      outputs: ['txt'],
      description: 'Begin text with a byte order mark: `utf-8-bom`. The default is utf-8 without it',
    }),
    quality: integer('-quality', {
      min: 1,
      max: 100,
      default: 90,
      outputs: PAGE_IMAGES.filter((format) => PAGE_FORMATS[format].isLossy),
      description: 'Set the quality of JPEG, WebP and AVIF',
    }),
    split: integer('-split', {
      min: 1,
      max: 100_000,
      outputs: ['pdf'],
      description: 'With `%d` in `outfile`, or an archive, write this number of pages into each file',
    }),
    /** Drawn in demo mode. It has no name, so that callers cannot set it. */
    watermark: text([], {
      pattern: /^[A-Z]+$/,
      outputs: ['pdf'],
      description: 'Draw this word across every page',
    }),
  }),
} as const;

export type PdfOptions = ValuesOf<typeof pdfOptions>;

/** Returns the colors that pages are shown in. */
export function colorOf({ mono, gray }: Pick<PdfOptions, 'mono' | 'gray'>): 'rgb' | 'gray' | 'mono' {
  if (mono) return 'mono';
  return gray ? 'gray' : 'rgb';
}

/** Messages about the password of a PDF, by error code. Every engine that opens one reports them. */
export const PASSWORD_MESSAGES = {
  PASSWORD_REQUIRED: () => "The document is encrypted. Set '-upw' to open it.",
  WRONG_PASSWORD: () => "The value of '-upw' or '-opw' does not open the document.",
} as const;

/** Returns the message about a document, or a part of it, that no engine can read. */
export function damagedMessage(part = 'The document'): string {
  return `${part} is damaged and cannot be displayed.`;
}
