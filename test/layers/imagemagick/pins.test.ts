import { expect, it } from 'vitest';
import { IMAGE_FORMATS } from '../../../functions/imageproc/formats.ts';
import { PINS } from '../../../layers/imagemagick/pins.ts';

it('lets ImageMagick write the formats of imageproc that have no other encoder', () => {
  const written = IMAGE_FORMATS.filter((format) => format !== 'avif' && format !== 'pdf');

  expect(PINS.written).toEqual(expect.arrayContaining(written.map((format) => format.toUpperCase())));
});
