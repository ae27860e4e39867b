import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../../functions/imageproc/tool.ts';
import { disc } from '../../../fixtures/image.ts';
import { pixel } from '../../../likeness.ts';
import { useEngine } from '../../conversion.ts';
import { expectClose } from '../picture.ts';

const { convertOne } = useEngine(imageproc, createEngine);

describe('transparency', () => {
  it('becomes white in a jpg, or the background', async () => {
    const black = await disc(60);

    const white = await convertOne(black, { format: 'jpg' });
    const lime = await convertOne(black, { format: 'jpg', options: '-background=lime' });

    expectClose(
      [await pixel(white, 2, 2), await pixel(white, 30, 30)],
      [
        [255, 255, 255],
        [0, 0, 0],
      ],
    );
    expectClose([await pixel(lime, 2, 2)], [[0, 255, 0]]);
  });

  it('stays in a png, also through operators', async () => {
    const made = await convertOne(await disc(60), { format: 'png', options: '-negate -resize=200%' });

    expect((await pixel(made, 2, 2))[3]).toBe(0);
    expect(await pixel(made, 60, 60)).toEqual([255, 255, 255, 255]);
  });

  it('of a gray image survives operators', async () => {
    const gray = await sharp(await disc(60))
      .toColorspace('b-w')
      .png()
      .toBuffer();

    const made = await convertOne(gray, { format: 'png', options: '-flip -flop' });

    expect((await pixel(made, 2, 2))[3]).toBe(0);
    expect(await pixel(made, 30, 30)).toEqual([0, 0, 0, 255]);
  });

  it.each([
    ['-flatten', 255],
    ['-alpha=remove', 255],
    ['-alpha=off', 0],
  ])('is removed by %s', async (options, shade) => {
    const made = await convertOne(await disc(60), { format: 'png', options });

    expect(await pixel(made, 2, 2)).toEqual([shade, shade, shade, 255]);
  });
});
