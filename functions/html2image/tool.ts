import { ignoredPageNames, pageParameters, refusedPageNames } from '../shared/chromium/page-options.ts';
import { ConversionError } from '../shared/errors.ts';
import { flag, integer, number, text } from '../shared/options/parameters.ts';
import { defineTool, type OptionsOf } from '../shared/tool.ts';

const OFFSET = { min: 0, max: 65_535 } as const;

/** Web pages to images; the names are those of wkhtmltoimage. */
export const html2image = defineTool({
  name: 'html2image',
  summary: 'A web page as image.',
  source: 'page',
  formats: ['jpg', 'png', 'webp'],
  paged: [],
  parameters: {
    width: integer('--width', {
      min: 1,
      max: 16_384,
      default: 1024,
      meaning: 'width of the window, CSS pixels',
    }),
    height: integer('--height', {
      min: 1,
      max: 65_535,
      meaning: 'height of window and image, CSS pixels; not given: the whole page',
    }),
    quality: integer('--quality', { min: 1, max: 100, default: 94, meaning: 'quality of jpg and webp' }),
    cropLeft: integer('--crop-x', {
      ...OFFSET,
      default: 0,
      meaning: 'left edge of a crop, pixels of the image',
    }),
    cropTop: integer('--crop-y', { ...OFFSET, default: 0, meaning: 'top edge of a crop' }),
    cropWidth: integer(['-w', '--crop-w'], { ...OFFSET, meaning: 'width of a crop; 0: to the right edge' }),
    cropHeight: integer(['-h', '--crop-h'], {
      ...OFFSET,
      meaning: 'height of a crop; 0: to the bottom edge',
    }),
    transparent: flag('--transparent', { meaning: 'no white behind the page; not for jpg' }),
    zoom: number('--zoom', { min: 0.25, max: 4, default: 1, meaning: 'pixels of the image for a CSS pixel' }),
    selector: text('--selector', { meaning: 'one element instead of the page: a CSS selector' }),
    fullPage: flag('--full-page', { meaning: 'the whole page, although a height is given' }),
    ...pageParameters,
  },
  ignored: [...ignoredPageNames, '--format', '-f', '--enable-smart-width', '--background', '--no-background'],
  refused: refusedPageNames,
  sizing: { memory: 2048, layers: ['chromium', 'fonts', 'image'] },
  *validate({ transparent, cropLeft, width, zoom, selector }, format) {
    if (transparent && format === 'jpg') {
      yield new ConversionError(
        'BAD_PARAMETER',
        "Parameter '--transparent': JPEG does not support transparency.",
      );
    }
    // With a selector, the width of the image is the width of the element.
    if (selector === undefined && cropLeft >= width * zoom) {
      const message = `Parameter '--crop-x' must be less than the width of the image, ${Math.round(width * zoom)} pixels.`;
      yield new ConversionError('BAD_PARAMETER', message);
    }
  },
});

export type Html2imageOptions = OptionsOf<typeof html2image>;
