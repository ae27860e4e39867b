import { expect, it } from 'vitest';
import { formatIn, withFormat } from '../../../../functions/site/client/outfile.ts';

it.each([
  ['page.png', 'png'],
  ['a.b.JPEG', 'jpg'],
  ['page.htm', 'html'],
  ['scan.tif', 'tiff'],
  ['pages.png.zip', 'png'],
  ['page', ''],
  ['', ''],
])('the format of %j is %j', (outfile, format) => {
  expect(formatIn(outfile)).toBe(format);
});

it.each([
  ['page.png', 'page.jpg'],
  ['a.b.png', 'a.b.jpg'],
  ['pages.png.zip', 'pages.jpg.zip'],
  ['page', 'page.jpg'],
  ['', '.jpg'],
])('%j becomes %j with another format', (outfile, changed) => {
  expect(withFormat(outfile, 'jpg')).toBe(changed);
});
