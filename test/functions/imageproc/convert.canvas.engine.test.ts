import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { animation } from '../../fixtures/image.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { PICTURE, sizeOf } from './picture.ts';

const { convertOne } = useEngine(imageproc, createEngine);

/** A black outline, one pixel wide, 70 by 70 on a white canvas of 100 by 100. */
const outline = await sharp(
  Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><rect width="100" height="100" fill="#fff"/><rect x="15.5" y="15.5" width="69" height="69" fill="none" stroke="#000"/></svg>',
  ),
)
  .png()
  .toBuffer();

describe('-trim', () => {
  it('keeps an outline that is one pixel wide', async () => {
    const made = await convertOne(outline, { format: 'png', options: '-trim' });

    expect(await sizeOf(made)).toMatchObject({ width: 70, height: 70 });
    expect((await pixel(made, 0, 0)).slice(0, 3)).toEqual([0, 0, 0]);
  });

  it('compares each edge with its own corner', async () => {
    const sides = await convertOne(PICTURE, {
      format: 'png',
      options: '-gravity=West -background=red -extent=90x60 -gravity=East -background=blue -extent=95x60',
    });

    const made = await convertOne(sides, { format: 'png', options: '-trim' });

    expect(await sizeOf(made)).toMatchObject({ width: 80, height: 60 });
  });
});

describe('-crop and -extent', () => {
  it.each([
    ['-crop=1:1', 60, 60],
    ['-crop=16:9', 80, 45],
    ['-gravity=Center -crop=1:2', 30, 60],
    ['-extent=1:1', 80, 80],
    ['-extent=4:1', 240, 60],
  ])('%s is %i x %i', async (options, width, height) => {
    const made = await convertOne(PICTURE, { format: 'png', options });

    expect(await sizeOf(made)).toMatchObject({ width, height });
  });

  it.each(['Attention', 'Entropy'])('find the interesting part with -gravity=%s', async (gravity) => {
    const noise = Buffer.from(Array.from({ length: 60 * 60 * 3 }, (_, at) => (at * 7919) % 256));
    const part = { input: noise, raw: { width: 60, height: 60, channels: 3 as const } };
    const plain = sharp({ create: { width: 400, height: 60, channels: 3, background: '#dddddd' } });
    const source = await plain
      .composite([{ ...part, left: 310, top: 0 }])
      .png()
      .toBuffer();

    const made = await convertOne(source, { format: 'png', options: `-gravity=${gravity} -crop=100x60` });

    expect(await sizeOf(made)).toMatchObject({ width: 100, height: 60 });
    const { channels } = await sharp(made).stats();
    expect(channels[0]!.stdev).toBeGreaterThan(40);
  });
});

describe('-rounded-corners', () => {
  it('makes corners transparent and keeps the edges', async () => {
    const made = await convertOne(PICTURE, { format: 'png', options: '-rounded-corners=20' });

    expect((await pixel(made, 0, 0))[3]).toBe(0);
    expect((await pixel(made, 79, 59))[3]).toBe(0);
    expect((await pixel(made, 40, 0))[3]).toBe(255);
    expect((await pixel(made, 6, 6))[3]).toBeGreaterThan(0);
  });

  it('shows the background in a jpg', async () => {
    const made = await convertOne(PICTURE, {
      format: 'jpg',
      options: '-rounded-corners=50% -background=blue',
    });

    const [red, , blue] = await pixel(made, 1, 1);
    expect(red).toBeLessThan(20);
    expect(blue).toBeGreaterThan(235);
  });
});

describe('-append', () => {
  it.each([
    ['-append', 40, 90],
    ['+append', 120, 30],
  ])('without a URL joins all frames: %s', async (options, width, height) => {
    const colors = [
      [255, 0, 0],
      [0, 255, 0],
      [0, 0, 255],
    ] as const;
    const source = await animation(colors, { width: 40, height: 30, format: 'gif' });

    const made = await convertOne(source, { format: 'png', options });

    expect(await sizeOf(made)).toMatchObject({ width, height });
    expect((await pixel(made, 5, 5)).slice(0, 3)).toEqual([255, 0, 0]);
    expect((await pixel(made, width - 5, height - 5)).slice(0, 3)).toEqual([0, 0, 255]);
  });
});
