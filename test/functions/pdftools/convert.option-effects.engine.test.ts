import { it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { makePdf } from '../../fixtures/pdf.ts';
import { useEngine } from '../conversion.ts';
import { casesOf, effectCheck } from '../option-effects.ts';
import { SAMPLES } from './option-samples.ts';

const { convertOne } = useEngine(pdftools, createEngine);

const page = (text: string) => ({
  text,
  field: 'value',
  cropBox: [50, 50, 500, 700] as const,
  boxes: [{ x: 100, y: 100, width: 200, height: 300, color: [0.9, 0.4, 0.1] as const }],
  content: '0.1 0.5 0.9 rg 310 300 m 480 400 l 350 650 l f',
});
const SOURCES: Readonly<Record<string, Buffer>> = {
  plain: makePdf(['one', 'two', 'three'].map(page)),
  locked: makePdf([page('one')], { password: 'secret' }),
};

const checkEffects = effectCheck(pdftools, (given, source = 'plain', format) =>
  convertOne(SOURCES[source]!, {
    format,
    options: given.map(({ name, value }) => `${name}=${value}`).join(' '),
  }),
);

it.each(casesOf(pdftools, SAMPLES))(
  '$name has an effect, or is ignored or rejected where it has none',
  checkEffects,
);
