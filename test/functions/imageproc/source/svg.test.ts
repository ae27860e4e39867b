import { expect, it } from 'vitest';
import { unsupportedSvg } from '../../../../functions/imageproc/source/svg.ts';

const svg = (content: string) => Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg">${content}</svg>`);

it.each([
  ['var()', '<rect fill="var(--c)"/>'],
  ['color-mix()', '<rect style="fill: color-mix(in srgb, red, blue)"/>'],
  ['oklch()', '<rect fill="oklch(0.7 0.1 200)"/>'],
  ['foreignObject', '<foreignObject/>'],
  ['textPath', '<text><textPath href="#a">x</textPath></text>'],
  ['textLength', '<text textLength="50">x</text>'],
])('names a feature that is not drawn, and the tool that draws it: %s', (name, content) => {
  expect(unsupportedSvg(svg(content))).toContain(name);
  expect(unsupportedSvg(svg(content))).toContain('html2image');
});

it('says nothing about a drawing without such features', () => {
  expect(
    unsupportedSvg(svg('<text x="1">variable label(s)</text><rect fill="rgb(1,2,3)"/>')),
  ).toBeUndefined();
});
