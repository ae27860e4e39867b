import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../../functions/imageproc/tool.ts';
import { useEngine } from '../../conversion.ts';
import { PICTURE } from '../picture.ts';

const { convertOne, refusal } = useEngine(imageproc, createEngine);

/** Returns the bits per sample and the color type of a PNG: 0 gray, 2 RGB, 3 palette, 4 gray with alpha, 6 RGBA. */
const typeOf = (png: Buffer) => ({ bits: png[24], type: png[25] });

/** Creates an image with pixels from a function. */
function image(channels: 1 | 3 | 4, make: (x: number, y: number) => readonly number[]) {
  const bytes = Buffer.from(
    Array.from({ length: 64 * 64 }, (_, at) => make(at % 64, Math.floor(at / 64))).flat(),
  );
  return sharp(bytes, { raw: { width: 64, height: 64, channels } })
    .png()
    .toBuffer();
}

const shades = await image(3, (x, y) => [x * 2 + y, x * 2 + y, x * 2 + y]);
const photo = await image(3, (x, y) => [x * 4, y * 4, (x * y) % 256]);

async function rawOf(png: Buffer) {
  return sharp(png).toColorspace('srgb').ensureAlpha().raw().toBuffer();
}

describe('a png', () => {
  it.each([
    ['two shades', image(3, (x) => (x < 32 ? [0, 0, 0] : [255, 255, 255])), { bits: 1, type: 0 }],
    [
      'four shades',
      image(3, (x) => [0, 85, 170, 255].slice(x >> 4, (x >> 4) + 1).flatMap((v) => [v, v, v])),
      { bits: 2, type: 0 },
    ],
    ['many shades', Promise.resolve(shades), { bits: 8, type: 0 }],
    ['two colors', image(3, (x) => (x < 32 ? [200, 0, 0] : [0, 0, 200])), { bits: 1, type: 3 }],
    ['16 colors', image(3, (x) => [(x >> 2) * 16, 20, 30]), { bits: 4, type: 3 }],
    ['64 colors', image(3, (x) => [x, 20, 30]), { bits: 8, type: 3 }],
    ['colors with opacity', image(4, (x) => [x, 20, 30, x * 4]), { bits: 8, type: 3 }],
    [
      'opaque pixels with an alpha channel',
      image(4, (x, y) => [x * 4, y * 4, x ^ y, 255]),
      { bits: 8, type: 2 },
    ],
    ['a photo', Promise.resolve(photo), { bits: 8, type: 2 }],
  ])('of %s has the smallest type, and the same pixels', async (_, source, type) => {
    const made = await convertOne(await source, { format: 'png' });

    expect(typeOf(made)).toEqual(type);
    expect((await rawOf(made)).equals(await rawOf(await source))).toBe(true);
  });

  it('keeps 16 bits, also through operators', async () => {
    const deep = Uint16Array.from({ length: 64 * 64 * 3 }, (_, at) => (at * 1301) % 65_536);
    const source = await sharp(deep, { raw: { width: 64, height: 64, channels: 3 } })
      .toColorspace('rgb16')
      .png()
      .toBuffer();

    const made = await convertOne(source, { format: 'png', options: '-flip -negate -negate -flip' });

    expect(typeOf(made)).toEqual({ bits: 16, type: 2 });
    const pixels = await sharp(made).toColorspace('rgb16').raw({ depth: 'ushort' }).toBuffer();
    expect([...new Uint16Array(pixels.buffer, pixels.byteOffset, 100)]).toEqual([...deep.subarray(0, 100)]);
  });

  it('is gray after -colorspace=Gray', async () => {
    expect(typeOf(await convertOne(photo, { format: 'png', options: '-colorspace=Gray' }))).toEqual({
      bits: 8,
      type: 0,
    });
  });

  it.each([
    ['-define=png:format=png8', { bits: 8, type: 3 }],
    ['-define=png:format=png24', { bits: 8, type: 2 }],
    ['-define=png:format=png32', { bits: 8, type: 6 }],
    ['-define=png:format=png48', { bits: 16, type: 2 }],
    ['-define=png:color-type=0', { bits: 8, type: 0 }],
    ['-define=png:color-type=4', { bits: 8, type: 4 }],
    ['-depth=16', { bits: 16, type: 2 }],
    ['-type=Grayscale', { bits: 8, type: 0 }],
    ['-type=Bilevel', { bits: 1, type: 0 }],
    ['-type=Palette', { bits: 8, type: 3 }],
    ['-type=TrueColorAlpha', { bits: 8, type: 6 }],
    ['-colors=16', { bits: 4, type: 3 }],
    ['-monochrome', { bits: 1, type: 0 }],
  ])('has the type of %s', async (options, type) => {
    expect(typeOf(await convertOne(photo, { format: 'png', options }))).toEqual(type);
  });

  it('is smaller with a higher level', async () => {
    const [fast, small] = [
      await convertOne(photo, { format: 'png', options: '-define=png:compression-level=1' }),
      await convertOne(photo, { format: 'png', options: '-define=png:compression-level=9' }),
    ];

    expect(small.length).toBeLessThan(fast.length);
  });

  it('has the default level with -quality=0, as in ImageMagick', async () => {
    const made = await convertOne(photo, { format: 'png', options: '-quality=0' });

    expect(made.equals(await convertOne(photo, { format: 'png' }))).toBe(true);
  });

  it.each(['-define=jpeg:extent=lots', '-define=png:color-type=9'])('rejects %s', async (options) => {
    const refused = await refusal(PICTURE, { format: 'png', options });

    expect(refused.message).toMatch(/^Parameter '-define' must be a key and a value such as /);
  });
});
