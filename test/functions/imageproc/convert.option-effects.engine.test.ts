import sharp from 'sharp';
import { it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { animation, noisyPhoto, orientedJpeg } from '../../fixtures/image.ts';
import { useEngine } from '../conversion.ts';
import { casesOf, effectCheck } from '../option-effects.ts';
import { SAMPLES } from './option-samples.ts';

const { convertOne } = useEngine(imageproc, createEngine);

// Made once, because the noise is random.
const photo = await noisyPhoto(90, 60).jpeg().toBuffer();
const SOURCES: Readonly<Record<string, () => Promise<Buffer> | Buffer>> = {
  plain: () => photo,
  drawing: () =>
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="90" height="60"><circle r="40"/></svg>'),
  turned: () => orientedJpeg(6, 90, 60),
  black: () =>
    sharp({ create: { width: 90, height: 60, channels: 3, background: '#000' } })
      .png()
      .toBuffer(),
  animation: () =>
    animation(
      [
        [200, 0, 0],
        [0, 0, 200],
      ],
      { width: 40, height: 30, format: 'gif' },
    ),
};

const checkEffects = effectCheck(imageproc, async (given, source = 'plain', format) =>
  convertOne(await SOURCES[source]!(), {
    format,
    options: given.map(({ name, value }) => `${name}=${value}`).join(' '),
  }),
);

it.each(casesOf(imageproc, SAMPLES))(
  '$name has an effect, or is ignored or rejected where it has none',
  checkEffects,
);
