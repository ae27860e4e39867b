import { expect, it } from 'vitest';
import { lengthsInPixels, unsupportedSvg } from '../../../../functions/imageproc/source/svg.ts';
import { rewriteSvg } from '../../../../functions/imageproc/source/svg-rewrite.ts';

const ROOT = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" width="1in">';
/** A pattern that searches the rest of such a text from each place takes minutes. */
const LENGTH = 500_000;
const many = (text: string) => text.repeat(LENGTH / text.length);
const box = '<rect x="0" y="0" width="1" height="1"';

it.each([
  ['style sheets without an end', `${ROOT}@media <style>${many('<style ')}`],
  ['style sheets in style sheets', `${ROOT}@media ${many('<style>')}`],
  ['media queries without rules', `${ROOT}<style>${many('@media ')}</style>`],
  ['shapes without an end', `${ROOT}${many('<rect clip-path="circle(')}`],
  ['a shape after white space', `${ROOT}clip-path:${many(' ')}`],
  ['white space in a shape', `${ROOT}${box} clip-path="circle(${many(' ')})"/>`],
  ['white space in a tag', `${ROOT}${box} clip-path="circle(1)"${many(' ')}z/>`],
  ['a long number', `${ROOT}<rect x="${many('1')}z" clip-path="circle(1)"/>`],
  ['symbols without an end', `${ROOT}${many('<symbol ')}`],
  ['pictures without data', `${ROOT}${many('data:image/gif;a')}`],
  ['colors without an end', `<svg style="${many('background:rgb(')}">`],
  ['roots without an end', many('<svg ')],
  ['tags without an end', `${ROOT}${many('<')}`],
])('takes time in proportion to the length of %s', async (_, text) => {
  const svg = Buffer.from(text);

  expect(lengthsInPixels(svg).length).toBeGreaterThan(0);
  expect(await rewriteSvg(text, 1e6)).not.toBe('');
  unsupportedSvg(svg);
});

it('converts at most a thousand embedded pictures', async () => {
  const picture = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
  const rewritten = await rewriteSvg(`${ROOT}${`<image href="${picture}"/>`.repeat(1001)}</svg>`, 1e6);

  expect(rewritten.match(/image\/png/g)).toHaveLength(1000);
  expect(rewritten.match(/image\/gif/g)).toHaveLength(1);
});
