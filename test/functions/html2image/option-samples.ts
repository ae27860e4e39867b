import type { html2image } from '../../../functions/html2image/tool.ts';
import { PAGE_DRAWN, PAGE_SAMPLES } from '../engines/chromium/page-effects.ts';
import type { Drawn, Samples } from '../option-effects.ts';

/** A value for each option of html2image. The sources are those of `page-effects.ts`. */
export const SAMPLES: Samples<typeof html2image> = {
  ...PAGE_SAMPLES,
  width: { value: '500' },
  resize: { value: '99x' },
  smartWidth: { value: 'off' },
  height: { value: '300' },
  zoom: { value: '0.5' },
  cropLeft: { value: '20' },
  cropTop: { value: '20' },
  cropWidth: { value: '200' },
  cropHeight: { value: '200' },
  selector: { value: 'h1' },
  fullPage: { value: 'on', beside: { '--height': '300' } },
  quality: { value: '20' },
  transparent: { value: 'on', source: '/cover' },
};

/** Options whose effect other test files draw. Those of the page are drawn with html2pdf. */
export const DRAWN: Drawn = {
  ...PAGE_DRAWN,
  'html2image/convert': `width, smartWidth, height, zoom, cropLeft, cropTop, cropWidth, cropHeight, selector, quality,
    transparent`,
};
