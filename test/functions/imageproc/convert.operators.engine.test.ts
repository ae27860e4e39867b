import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { QUARTERS } from '../../fixtures/image.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { corners, expectClose, luma, PICTURE, sizeOf, UPRIGHT } from './picture.ts';

const { convertOne, refusal } = useEngine(imageproc, createEngine);
const { topLeft, topRight, bottomLeft, bottomRight } = QUARTERS;

describe('operators', () => {
  it.each([
    ['-resize=40x40', 40, 30],
    ['-resize=40x40!', 40, 40],
    ['-resize=40x40\\!', 40, 40],
    ['-resize=200x200>', 80, 60],
    ['-resize=200x200<', 200, 150],
    ['-resize=40x40^', 53, 40],
    ['-resize=50%', 40, 30],
    ['-resize=200%>', 160, 120],
    ['-resize=300@<', 20, 15],
    ['-resize=1200@', 40, 30],
    ['-resize=40', 40, 30],
    ['-resize=x30', 40, 30],
    ['-thumbnail=20x20', 20, 15],
    ['-sample=160x120', 160, 120],
    ['-scale=25%', 20, 15],
    ['-crop=30x20+10+5', 30, 20],
    ['-crop=30x20!+10+5', 30, 20],
    ['-crop=30x20+-10+-5', 20, 15],
    ['-crop=100x100+60+40', 20, 20],
    ['-crop=50%x50%', 40, 30],
    ['-extent=100x100', 100, 100],
    ['-border=10x5', 100, 70],
    ['-border=10%', 96, 72],
    ['-shave=10x5', 60, 50],
    ['-rotate=90', 60, 80],
    ['-rotate=90>', 60, 80],
    ['-rotate=90<', 80, 60],
    ['-flip -border=1', 82, 62],
  ])('%s returns %i x %i', async (options, width, height) => {
    const made = await convertOne(PICTURE, { format: 'png', options });

    expect(await sizeOf(made)).toEqual({ width, height, format: 'png' });
  });

  it.each([
    ['-flip', [bottomLeft, bottomRight, topLeft, topRight]],
    ['-flop', [topRight, topLeft, bottomRight, bottomLeft]],
    ['-rotate=90', [bottomLeft, topLeft, bottomRight, topRight]],
    ['-rotate=-90', [topRight, bottomRight, topLeft, bottomLeft]],
    ['-negate', UPRIGHT.map((color) => color.map((channel) => 255 - channel))],
    ['-colorspace=Gray', UPRIGHT.map((color) => [0, 0, 0].fill(luma(color)))],
    [
      '-threshold=30%',
      [
        [0, 0, 0],
        [255, 255, 255],
        [0, 0, 0],
        [255, 255, 255],
      ],
    ],
    ['-gamma=2', UPRIGHT.map((color) => color.map((channel) => Math.sqrt(channel / 255) * 255))],
    // ImageMagick 6.9's result for these colors.
    [
      '-modulate=100,0',
      [
        [125, 125, 125],
        [100, 100, 100],
        [125, 125, 125],
        [130, 130, 130],
      ],
    ],
    [
      '-modulate=60,150,30',
      [
        [0, 0, 169],
        [132, 0, 2],
        [0, 169, 0],
        [141, 0, 180],
      ],
    ],
    [
      '-modulate=140,40',
      [
        [201, 148, 148],
        [103, 176, 103],
        [148, 148, 201],
        [207, 203, 156],
      ],
    ],
    [
      '-modulate=100,100,150',
      [
        [125, 230, 20],
        [20, 100, 180],
        [230, 20, 125],
        [20, 240, 110],
      ],
    ],
    ['-brightness-contrast=20', UPRIGHT.map((color) => color.map((channel) => Math.min(255, channel + 51)))],
  ])('%s returns the expected colors', async (options, wanted) => {
    const made = await convertOne(PICTURE, { format: 'png', options });

    expectClose(await corners(made), wanted, 4);
  });

  it('are applied from left to right', async () => {
    const flippedFirst = await convertOne(PICTURE, { format: 'png', options: '-flip -crop=40x30+0+0' });
    const croppedFirst = await convertOne(PICTURE, { format: 'png', options: '-crop=40x30+0+0 -flip' });
    const borderFirst = await convertOne(PICTURE, {
      format: 'png',
      options: '-bordercolor=white -border=5 -negate',
    });
    const negateFirst = await convertOne(PICTURE, {
      format: 'png',
      options: '-bordercolor=white -negate -border=5',
    });
    const turnedFirst = await convertOne(PICTURE, { format: 'png', options: '-rotate=90 -resize=20x10!' });
    const resizedFirst = await convertOne(PICTURE, { format: 'png', options: '-resize=20x10! -rotate=90' });

    expectClose(
      [await pixel(flippedFirst, 20, 15), await pixel(croppedFirst, 20, 15)],
      [bottomLeft, topLeft],
    );
    expectClose(
      [await pixel(borderFirst, 1, 1), await pixel(negateFirst, 1, 1)],
      [
        [0, 0, 0],
        [255, 255, 255],
      ],
    );
    expect(await sizeOf(turnedFirst)).toMatchObject({ width: 20, height: 10 });
    expect(await sizeOf(resizedFirst)).toMatchObject({ width: 10, height: 20 });
  });

  it('align crops and canvases by gravity', async () => {
    const crop = await convertOne(PICTURE, { format: 'png', options: '-gravity=SouthEast -crop=10x10+2+2' });
    const canvas = await convertOne(PICTURE, {
      format: 'png',
      options: '-gravity=Center -background=none -extent=100x100',
    });

    expectClose([await pixel(crop, 5, 5)], [bottomRight]);
    expect(await pixel(canvas, 50, 15)).toEqual([0, 0, 0, 0]);
    expectClose([await pixel(canvas, 12, 22)], [topLeft]);
  });

  it("trim edges of the corner's color", async () => {
    const framed = await convertOne(PICTURE, { format: 'png', options: '-bordercolor=#fefefe -border=7x9' });
    const uneven = await convertOne(framed, { format: 'png', options: '-bordercolor=white -border=3' });

    const strict = await convertOne(uneven, { format: 'png', options: '-trim' });
    const fuzzy = await convertOne(uneven, { format: 'png', options: '-trim -fuzz=5%' });

    expect(await sizeOf(strict)).toMatchObject({ width: 94, height: 78 });
    expect(await sizeOf(fuzzy)).toMatchObject({ width: 80, height: 60 });
  });

  it('blur and sharpen', async () => {
    const blurred = await convertOne(PICTURE, { format: 'png', options: '-blur=0x4' });
    const sharpened = await convertOne(blurred, { format: 'png', options: '-unsharp=0x2+2+0' });

    const [, soft] = await pixel(blurred, 42, 10);
    const [, hard] = await pixel(sharpened, 42, 10);
    expect(soft).toBeGreaterThan(90);
    expect(soft).toBeLessThan(160);
    expect(hard).toBeGreaterThan(soft + 5);
  });

  it('blur an edge to a Gaussian', async () => {
    const white = { create: { width: 32, height: 8, channels: 3, background: '#fff' } } as const;
    const edge = await sharp(white).extend({ left: 32, background: '#000' }).png().toBuffer();

    const blurred = await convertOne(edge, { format: 'png', options: '-blur=0x3' });

    // The normal distribution at 2.5 and 6.5 pixels from the edge.
    const [near] = await pixel(blurred, 34, 4);
    const [far] = await pixel(blurred, 38, 4);
    expect(Math.abs(near - 203)).toBeLessThanOrEqual(2);
    expect(Math.abs(far - 251)).toBeLessThanOrEqual(2);
  });

  it('dither to black and white', async () => {
    const shades = Buffer.from(Array.from({ length: 64 * 64 }, (_, at) => (at % 64) * 4));
    const ramp = await sharp(shades, { raw: { width: 64, height: 64, channels: 1 } })
      .png()
      .toBuffer();

    const made = await convertOne(ramp, { format: 'png', options: '-monochrome' });

    expect(made[24]).toBe(1);
    const { data } = await sharp(made).toColorspace('b-w').raw().toBuffer({ resolveWithObject: true });
    expect(new Set(data)).toEqual(new Set([0, 255]));
    const mean = data.reduce((sum, shade) => sum + shade, 0) / data.length;
    expect(Math.abs(mean - 126)).toBeLessThan(8);
  });

  it('reject a crop that leaves nothing of the image', async () => {
    const crop = await refusal(PICTURE, { format: 'png', options: '-crop=10x10+100+100' });
    const shave = await refusal(PICTURE, { format: 'png', options: '-shave=40' });

    expect(crop.message).toBe("Parameter '-crop' must overlap the image, which is 80x60 pixels.");
    expect(shave.message).toBe("Parameter '-shave' must leave part of the image, which is 80x60 pixels.");
  });
});
