import { expect, it } from 'vitest';
import { extensionsOf, formatNamed } from '../../../functions/shared/extensions.ts';

it('knows the other extensions of a format, in any case', () => {
  expect(['JPEG', 'tif', 'Htm', 'png'].map(formatNamed)).toEqual(['jpg', 'tiff', 'html', 'png']);
  expect(extensionsOf('tiff')).toEqual(['tiff', 'tif']);
  expect(extensionsOf('png')).toEqual(['png']);
});
