import { ignoredPageNames, pageParameters, refusedPageNames } from '../engines/chromium/page-options.ts';
import { ConversionError } from '../shared/errors.ts';
import { flag, integer, number, type Parameter, text } from '../shared/options/parameters.ts';
import { defineTool, type OptionsOf } from '../shared/tool.ts';

const OFFSET = { min: 0, max: 65_535 } as const;

/** Default width of the window in CSS pixels. */
export const USUAL_WIDTH = 1024;

const smartWidth: Parameter<boolean | undefined> = {
  ...flag('--enable-smart-width', {
    off: '--disable-smart-width',
    meaning: 'widen the window to fit the content. On unless `--width` is given',
  }),
  default: undefined,
};

/** Web pages to images. The names are those of wkhtmltoimage. */
export const html2image = defineTool({
  name: 'html2image',
  summary: 'Converts web pages to images.',
  source: 'page',
  formats: ['jpg', 'png', 'webp'],
  paged: [],
  parameters: {
    width: integer('--width', {
      min: 1,
      max: 16_384,
      meaning:
        'width of the window in CSS pixels. By default, that of `--device` or 1024, or wider if the content needs it',
    }),
    smartWidth,
    height: integer('--height', {
      min: 1,
      max: 65_535,
      meaning: 'height of the window and the image in CSS pixels. By default, the whole page',
    }),
    quality: integer('--quality', { min: 1, max: 100, default: 94, meaning: 'quality of JPEG and WebP' }),
    cropLeft: integer('--crop-x', {
      ...OFFSET,
      default: 0,
      meaning: 'left edge of the crop area, in image pixels',
    }),
    cropTop: integer('--crop-y', { ...OFFSET, default: 0, meaning: 'top edge of the crop area' }),
    cropWidth: integer(['-w', '--crop-w'], {
      ...OFFSET,
      meaning: 'width of the crop area. 0 means to the right edge',
    }),
    cropHeight: integer(['-h', '--crop-h'], {
      ...OFFSET,
      meaning: 'height of the crop area. 0 means to the bottom edge',
    }),
    transparent: flag('--transparent', { meaning: 'transparent background instead of white. Not for JPEG' }),
    zoom: number('--zoom', {
      min: 0.25,
      max: 4,
      meaning: 'image pixels per CSS pixel. By default, that of `--device`, or 1',
    }),
    selector: text('--selector', {
      meaning: 'capture only the first element that matches this CSS selector',
    }),
    fullPage: flag('--full-page', { meaning: 'capture the whole page even if `--height` is given' }),
    ...pageParameters,
  },
  ignored: [...ignoredPageNames, '--format', '-f', '--background', '--no-background'],
  refused: refusedPageNames,
  sizing: { memory: 2048, layers: ['chromium', 'fonts', 'image'] },
  *validate({ transparent, cropLeft, width, zoom = 1, selector, smartWidth, device }, format) {
    if (transparent && format === 'jpg') {
      yield new ConversionError(
        'BAD_PARAMETER',
        "Parameter '--transparent': JPEG does not support transparency.",
      );
    }
    // Otherwise the width of the image is that of an element, or of content that is not loaded yet.
    if (selector === undefined && width !== undefined && !smartWidth && !device && cropLeft >= width * zoom) {
      const message = `Parameter '--crop-x' must be less than the width of the image, ${Math.round(width * zoom)} pixels.`;
      yield new ConversionError('BAD_PARAMETER', message);
    }
  },
});

export type Html2imageOptions = OptionsOf<typeof html2image>;
