import { it } from 'vitest';
import { html2image } from '../../../functions/html2image/tool.ts';
import { PAGE_SAMPLES, usePageEffects } from '../engines/chromium/page-effects.ts';
import { casesOf } from '../option-effects.ts';
import { SAMPLES } from './option-samples.ts';

const checkEffects = await usePageEffects(html2image);

// The options of the page are observed with html2pdf.
it.concurrent.each(casesOf(html2image, SAMPLES, Object.keys(PAGE_SAMPLES)))(
  '$name has an effect, or is ignored or rejected where it has none',
  checkEffects,
);
