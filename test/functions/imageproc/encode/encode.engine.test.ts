import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../../functions/imageproc/tool.ts';
import { quarters } from '../../../fixtures/image.ts';
import { pixel } from '../../../helpers/pixels.ts';
import { useEngine } from '../../conversion.ts';
import { corners, expectClose, PICTURE, sizeOf, UPRIGHT } from '../picture.ts';

const { convertOne, refusal } = useEngine(imageproc, createEngine);

describe('formats', () => {
  it.each(['jpg', 'png', 'webp', 'avif', 'gif', 'tiff'] as const)('reads and writes %s', async (format) => {
    const made = await convertOne(PICTURE, { format, options: '-quality=95' });
    const again = await convertOne(made, { format: 'png' });

    expect(await sizeOf(again)).toEqual({ width: 80, height: 60, format: 'png' });
    expectClose(await corners(again), UPRIGHT, 25);
  });

  it('draws an svg, larger with -density and sharp when enlarged', async () => {
    const svg = Buffer.from(
      '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="100" height="50"><rect width="50" height="50" fill="#f00"/></svg>',
    );

    const own = await convertOne(svg, { format: 'jpg' });
    const dense = await convertOne(svg, { format: 'png', options: '-density=192' });
    const large = await convertOne(svg, { format: 'png', options: '-resize=1000x500!' });

    expect(await sizeOf(own)).toEqual({ width: 100, height: 50, format: 'jpeg' });
    expect(await sizeOf(dense)).toMatchObject({ width: 200, height: 100 });
    expect(await pixel(large, 497, 250)).toEqual([255, 0, 0, 255]);
    expect((await pixel(large, 503, 250))[3]).toBe(0);
  });

  it.each([
    ['webp', 'webp:method=0', 'webp:method=4'],
    ['webp', 'webp:alpha-quality=0', 'webp:alpha-quality=100'],
    ['webp', 'webp:near-lossless=0', 'webp:near-lossless=92'],
    ['avif', 'heic:speed=0', 'heic:speed=7'],
  ] as const)('%s takes %s for a number, not for %s', async (format, zero, other) => {
    const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
    const picture = await sharp({
      create: { width: 64, height: 64, channels: 4, background: '#8888', noise },
    })
      .png()
      .toBuffer();
    const convert = (define: string) => convertOne(picture, { format, options: `-define=${define}` });

    expect((await convert(zero)).equals(await convert(other))).toBe(false);
  });

  it('converts CMYK and 16 bits to 8-bit sRGB for jpg', async () => {
    const cmyk = await quarters(80, 60).toColorspace('cmyk').jpeg({ quality: 100 }).toBuffer();
    const deep = await quarters(80, 60).toColorspace('rgb16').png().toBuffer();

    const fromCmyk = await convertOne(cmyk, { format: 'jpg' });
    const fromDeep = await convertOne(deep, { format: 'jpg', options: '-rotate=180' });

    expect(await sharp(fromCmyk).metadata()).toMatchObject({ space: 'srgb', channels: 3, depth: 'uchar' });
    expectClose(await corners(fromCmyk), UPRIGHT, 100);
    expectClose(await corners(fromDeep), UPRIGHT.toReversed());
  });

  it('writes CMYK only to formats that support it', async () => {
    const made = await convertOne(PICTURE, { format: 'jpg', options: '-colorspace=CMYK' });
    const refused = await refusal(PICTURE, { format: 'png', options: '-colorspace=CMYK' });
    const restored = await convertOne(PICTURE, {
      format: 'png',
      options: '-colorspace=CMYK -colorspace=sRGB',
    });

    expect(await sharp(made).metadata()).toMatchObject({ space: 'cmyk', channels: 4 });
    expect(refused).toMatchObject({ code: 'BAD_PARAMETER' });
    expectClose(await corners(restored), UPRIGHT, 30);
  });

  it('removes metadata by default', async () => {
    const tagged = await quarters(80, 60)
      .withExif({ IFD0: { Copyright: 'somebody' } })
      .jpeg()
      .toBuffer();

    const made = await convertOne(tagged, { format: 'jpg' });

    const { exif, icc, xmp, iptc } = await sharp(made).metadata();
    expect([exif, icc, xmp, iptc]).toEqual([undefined, undefined, undefined, undefined]);
  });

  it('is progressive with -interlace, tagged with -density, smaller with a lower -quality', async () => {
    const plain = await convertOne(PICTURE, { format: 'jpg' });
    const made = await convertOne(PICTURE, {
      format: 'jpg',
      options: '-interlace=Plane -density=300',
    });
    const coarse = await convertOne(PICTURE, { format: 'jpg', options: '-quality=10' });

    expect(await sharp(made).metadata()).toMatchObject({ isProgressive: true, density: 300 });
    expect(await sharp(plain).metadata()).toMatchObject({ isProgressive: false });
    expect(coarse.length).toBeLessThan(plain.length);
  });
});
