import {
  ignoredPageNames,
  insteadOfRefused,
  pageOptions,
  refusedPageNames,
} from '../engines/chromium/page-options.ts';
import { ConversionError } from '../shared/errors.ts';
import {
  category,
  flag,
  integer,
  number,
  type Option,
  resizing,
  text,
  type ValuesOf,
} from '../shared/options/option.ts';
import { defineTool } from '../shared/tool.ts';

const OFFSET = { min: 0, max: 65_535 } as const;

/** Default width of the window in CSS pixels. */
export const USUAL_WIDTH = 1024;

const smartWidth: Option<boolean | undefined> = {
  ...flag('--enable-smart-width', {
    off: '--disable-smart-width',
    description: 'Widen the window to fit the content. On unless `--width` is given',
  }),
  default: undefined,
};

const html2imageOptions = {
  ...category('Window', {
    width: integer('--width', {
      min: 1,
      max: 16_384,
      description:
        'Set the width of the window in CSS pixels. By default, that of `--device` or 1024, or wider if the content needs it',
    }),
    smartWidth,
    height: integer('--height', {
      min: 1,
      max: 65_535,
      description: 'Set the height of the window and the image in CSS pixels. By default, the whole page',
    }),
    zoom: number('--zoom', {
      min: 0.25,
      max: 4,
      description: 'Draw this many image pixels per CSS pixel. By default, that of `--device`, or 1',
    }),
  }),
  ...category('Area', {
    cropLeft: integer('--crop-x', {
      ...OFFSET,
      default: 0,
      description: 'Crop to an area with this left edge, in image pixels',
    }),
    cropTop: integer('--crop-y', {
      ...OFFSET,
      default: 0,
      description: 'Crop to an area with this top edge',
    }),
    cropWidth: integer(['-w', '--crop-w'], {
      ...OFFSET,
      description: 'Crop to an area of this width. 0 means to the right edge',
    }),
    cropHeight: integer(['-h', '--crop-h'], {
      ...OFFSET,
      description: 'Crop to an area of this height. 0 means to the bottom edge',
    }),
    selector: text('--selector', {
      description: 'Capture only the first element that matches this CSS selector',
    }),
    fullPage: flag('--full-page', {
      with: ['height'],
      description: 'Capture the whole page even if `--height` is given',
    }),
  }),
  ...category('Image', {
    resize: resizing('Resize as in imageproc: 200x200 is at most that size'),
    quality: integer('--quality', {
      min: 1,
      max: 100,
      default: 94,
      outputs: ['jpg', 'webp'],
      description: 'Set the quality of JPEG and WebP',
    }),
    transparent: flag('--transparent', {
      description: 'Make the background transparent. JPEG does not support it',
    }),
  }),
  ...pageOptions,
} as const;

export type Html2imageOptions = ValuesOf<typeof html2imageOptions>;

/** Converts web pages to images. The option names are those of wkhtmltoimage. */
export const html2image = defineTool({
  name: 'html2image',
  summary: 'Converts web pages to images.',
  source: 'page',
  formats: ['jpg', 'png', 'webp'],
  paged: [],
  options: html2imageOptions,
  common: ['--width', '--height', '--zoom', '--selector', '--quality'],
  ignored: [...ignoredPageNames, '--format', '-f', '--background', '--no-background'],
  refused: refusedPageNames,
  instead: insteadOfRefused,
  sizing: { memory: 2048, layers: ['chromium', 'fonts', 'image'] },
  example: {
    infile: 'page.html',
    outfile: 'page.png',
    options: { '--width': '1200' },
    url: 'https://example.com/',
    seconds: { warm: 1.5, start: 0.47 },
  },
  *validate({ transparent, cropLeft, width, zoom = 1, selector, smartWidth, device }, format) {
    if (transparent && format === 'jpg') {
      yield new ConversionError(
        'BAD_PARAMETER',
        "Parameter '--transparent': JPEG does not support transparency.",
        { parameter: '--transparent' },
      );
    }
    // Otherwise the width of the image is that of an element, or of content that has not loaded yet.
    if (selector === undefined && width !== undefined && !smartWidth && !device && cropLeft >= width * zoom) {
      const message = `Parameter '--crop-x' must be less than the width of the image, ${Math.round(width * zoom)} pixels.`;
      yield new ConversionError('BAD_PARAMETER', message, { parameter: '--crop-x' });
    }
  },
});

export type ImageFormat = (typeof html2image.formats)[number];
