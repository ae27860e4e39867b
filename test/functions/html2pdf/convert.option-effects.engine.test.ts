import { it } from 'vitest';
import { html2pdf } from '../../../functions/html2pdf/tool.ts';
import { usePageEffects } from '../engines/chromium/page-effects.ts';
import { casesOf } from '../option-effects.ts';
import { DRAWN, SAMPLES } from './option-samples.ts';

const checkEffects = await usePageEffects(html2pdf);

it.concurrent.each(casesOf(html2pdf, SAMPLES, DRAWN))(
  '$name has an effect, or is ignored or rejected where it has none',
  checkEffects,
);
