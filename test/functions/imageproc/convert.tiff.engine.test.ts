import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { TiffReader } from '../../../functions/imageproc/source/tiff.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { animation, quarters } from '../../fixtures/image.ts';
import { joinTiffPages } from '../../fixtures/tiff-pages.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';

const { convertOne } = useEngine(imageproc, createEngine);

/** Pages of different sizes, types and strip counts. */
const pages = joinTiffPages([
  await quarters(80, 60).tiff({ compression: 'lzw' }).toBuffer(),
  await quarters(40, 300).tiff({ compression: 'none' }).toBuffer(),
  await quarters(200, 100)
    .toColorspace('b-w')
    .threshold(100)
    .tiff({ compression: 'ccittfax4', bitdepth: 1 })
    .toBuffer(),
]);

async function sizes(tiff: Buffer) {
  const { pages: count = 1 } = await sharp(tiff).metadata();
  return Promise.all(
    Array.from({ length: count }, async (_, page) => {
      const { width, height } = await sharp(tiff, { page }).metadata();
      return `${width}x${height}`;
    }),
  );
}

/** Returns the compression of the first page: 4 is Group4, 5 LZW, 8 Zip. */
function compressionOf(tiff: Buffer) {
  const reader = new TiffReader(tiff);
  const entry = reader.directory().entries.find(({ tag }) => tag === 259)!;
  return reader.number(entry);
}

describe('a TIFF of several pages', () => {
  it('keeps all of them, each edited', async () => {
    const made = await convertOne(pages, { format: 'tiff', options: '-resize=50%' });

    expect(await sizes(made)).toEqual(['40x30', '20x150', '100x50']);
    const second = await sharp(made, { page: 1 }).png().toBuffer();
    expect((await pixel(second, 5, 20))[0]).toBeGreaterThan(200);
  });

  it('is one page with -frame', async () => {
    const made = await convertOne(pages, { format: 'png', options: '-frame=1' });

    expect(await sizes(made)).toEqual(['40x300']);
  });

  it('is animated as a gif', async () => {
    const made = await convertOne(pages, { format: 'gif' });

    expect(await sharp(made, { animated: true }).metadata()).toMatchObject({
      pages: 3,
      width: 200,
      pageHeight: 300,
    });
  });

  it('contains the frames of an animation', async () => {
    const colors = [
      [255, 0, 0],
      [0, 0, 255],
    ] as const;
    const made = await convertOne(await animation(colors, { width: 40, height: 30, format: 'gif' }), {
      format: 'tiff',
    });

    expect(await sizes(made)).toEqual(['40x30', '40x30']);
    expect((await pixel(await sharp(made, { page: 1 }).png().toBuffer(), 9, 9)).slice(0, 3)).toEqual([
      0, 0, 255,
    ]);
  });
});

describe('a TIFF in black and white', () => {
  it('stays at one bit in Group4', async () => {
    const fax = await quarters(800, 600)
      .toColorspace('b-w')
      .threshold(100)
      .tiff({ compression: 'ccittfax4', bitdepth: 1 })
      .toBuffer();

    const made = await convertOne(fax, { format: 'tiff' });

    expect(await sharp(made).metadata()).toMatchObject({ bitsPerSample: 1, channels: 1 });
    expect(compressionOf(made)).toBe(4);
    expect(made.length).toBeLessThan(fax.length * 1.2);
  });

  it.each([
    ['-compress=Zip', 8],
    ['-compress=Group4', 4],
    ['-compress=None', 1],
    ['', 5],
  ])('has the compression of %s', async (options, compression) => {
    const made = await convertOne(await quarters(80, 60).png().toBuffer(), { format: 'tiff', options });

    expect(compressionOf(made)).toBe(compression);
  });
});
