import { it } from 'vitest';
import { html2image } from '../../../functions/html2image/tool.ts';
import { usePageEffects } from '../engines/chromium/page-effects.ts';
import { casesOf } from '../option-effects.ts';
import { DRAWN, SAMPLES } from './option-samples.ts';

const checkEffects = await usePageEffects(html2image);

it.concurrent.each(casesOf(html2image, SAMPLES, DRAWN))(
  '$name has an effect, or is ignored or rejected where it has none',
  checkEffects,
);
