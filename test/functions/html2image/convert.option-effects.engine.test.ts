import { it } from 'vitest';
import { html2image } from '../../../functions/html2image/tool.ts';
import { PAGE_SAMPLES, usePageEffects } from '../engines/chromium/page-effects.ts';
import { type Case, casesOf, type Sample } from '../option-effects.ts';
import { SAMPLES } from './option-samples.ts';

const checkEffects = usePageEffects(html2image);

/** Options of the page take effect before a picture is encoded, so each is observed in one format. They take turns. */
function inOneFormat(test: Case): Case {
  const index = Object.values<Sample>(PAGE_SAMPLES).indexOf(test.sample);
  return index < 0 ? test : { ...test, formats: [html2image.formats[index % html2image.formats.length]!] };
}

it.concurrent.each(casesOf(html2image, SAMPLES).map(inOneFormat))(
  '$name has an effect, or is ignored or rejected where it has none',
  checkEffects,
);
