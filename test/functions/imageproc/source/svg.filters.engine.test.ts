import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../../functions/imageproc/tool.ts';
import { IMAGE_BOMBS } from '../../../fixtures/bombs.ts';
import { pixel } from '../../../helpers/pixels.ts';
import { useEngine } from '../../conversion.ts';

const { convertOne, refusal } = useEngine(imageproc, createEngine);

describe('an SVG full of filters', () => {
  const svg = (size: number, inner: string) =>
    Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">${inner}</svg>`);

  it('is rejected before it is drawn if they would process too many pixels', async () => {
    const bomb = IMAGE_BOMBS.find(({ name }) => name === 'svg of filters')!;

    const answer = await refusal(Buffer.from(await bomb.bytes()), { format: 'png' });

    expect(answer).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
  });

  it('is drawn if it is an ordinary drawing with soft shadows', async () => {
    const shadow = '<filter id="s"><feGaussianBlur stdDeviation="4"/><feOffset dx="5"/></filter>';
    const card = '<rect x="300" y="300" width="500" height="500" fill="#ff0000" filter="url(#s)"/>';

    const drawn = await convertOne(svg(1000, shadow + card.repeat(40)), { format: 'png' });

    expect(await pixel(drawn, 550, 550)).toEqual([255, 0, 0, 255]);
  });
});
