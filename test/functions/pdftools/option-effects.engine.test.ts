import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { makePdf } from '../../fixtures/pdf.ts';
import { useEngine } from '../conversion.ts';
import { casesOf, observeEffects, type Samples } from '../option-effects.ts';

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

const SAMPLES: Samples<typeof pdftools, 'watermark'> = {
  firstPage: { value: '2' },
  lastPage: { value: '2' },
  pages: { value: '3,1' },
  odd: { value: 'on' },
  even: { value: 'on' },
  userPassword: { value: 'secret', source: 'locked' },
  ownerPassword: { value: 'secret', source: 'locked' },
  resolution: { value: '40' },
  xResolution: { value: '40' },
  yResolution: { value: '40' },
  width: { value: '99' },
  height: { value: '99' },
  scaleToX: { value: '99' },
  scaleToY: { value: '99' },
  longSide: { value: '99' },
  cropBox: { value: 'off' },
  left: { value: '40' },
  top: { value: '40' },
  cropWidth: { value: '300' },
  cropHeight: { value: '300' },
  trim: { value: 'on' },
  rotate: { value: '90' },
  gray: { value: 'on' },
  mono: { value: 'on' },
  transparent: { value: 'on' },
  hideAnnotations: { value: 'on' },
  quality: { value: '20' },
};

const effectOf = observeEffects(pdftools, (given, source = 'plain', format) =>
  convertOne(SOURCES[source]!, {
    format,
    options: given.map(({ name, value }) => `${name}=${value}`).join(' '),
  }),
);

it.each(casesOf(pdftools, SAMPLES))(
  '$name has an effect on $format, is ignored or is an error',
  async (test) => {
    expect(await effectOf(test)).not.toBe('nothing');
  },
);
