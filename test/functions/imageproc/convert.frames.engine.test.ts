import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { TiffReader } from '../../../functions/imageproc/source/tiff.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { animation, joinTiffPages, quarters } from '../../fixtures/image.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { expectClose } from './picture.ts';

const { convertOne, refusal } = useEngine(imageproc, createEngine);

describe('animations', () => {
  const colors = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
  ] as const;
  const size = { width: 40, height: 30 };

  it.each(['gif', 'webp'] as const)(
    'of %s stay animated as gif and webp, with every frame edited',
    async (format) => {
      const source = await animation(colors, { ...size, format });

      for (const target of ['gif', 'webp'] as const) {
        const made = await convertOne(source, {
          format: target,
          options: '-resize=20x -border=2 -bordercolor=black',
        });
        const { pages, pageHeight, width, delay, loop } = await sharp(made, { animated: true }).metadata();
        expect({ pages, pageHeight, width, delay, loop }).toEqual({
          pages: 3,
          pageHeight: 19,
          width: 24,
          delay: [100, 200, 300],
          loop: 3,
        });
        const last = await sharp(made, { page: 2 }).png().toBuffer();
        expectClose(
          [await pixel(last, 12, 9), await pixel(last, 0, 0)],
          [
            [0, 0, 255],
            [0, 0, 0],
          ],
          30,
        );
      }
    },
  );

  it.each(['-resize=20x', '-flip -resize=20x'])(
    'keep their colors and metadata as webp with %s',
    async (edit) => {
      const frames = await animation(colors, { ...size, format: 'webp' });
      const source = await sharp(frames, { animated: true })
        .withIccProfile('p3')
        .withExif({ IFD0: { Copyright: 'somebody' } })
        .webp({ lossless: true })
        .toBuffer();
      const optionsOf = (strip: string) => `-define=webp:lossless=true ${edit} ${strip}`;

      const plain = await convertOne(source, { format: 'webp', options: optionsOf('') });
      const withProfile = await convertOne(source, { format: 'webp', options: optionsOf('-keep=icc') });
      const whole = await convertOne(source, { format: 'webp', options: optionsOf('-strip=off') });

      const [stripped, profiled, kept] = await Promise.all(
        [plain, withProfile, whole].map((made) => sharp(made, { animated: true }).metadata()),
      );
      expect([stripped!.pages, profiled!.pages, kept!.pages]).toEqual([3, 3, 3]);
      expect([stripped!.hasProfile, profiled!.hasProfile, kept!.hasProfile]).toEqual([false, true, true]);
      expect([profiled!.exif, kept!.exif?.includes('somebody')]).toEqual([undefined, true]);
      expectClose([await pixel(whole, 5, 5)], [await pixel(plain, 5, 5)], 2);
    },
  );

  it('become one frame in other formats, the first or the chosen one', async () => {
    const source = await animation(colors, { ...size, format: 'gif' });

    const first = await convertOne(source, { format: 'png' });
    const chosen = await convertOne(source, { format: 'gif', options: '-frame=1' });
    const none = await refusal(source, { format: 'png', options: '-frame=3' });

    expect((await pixel(first, 5, 5)).slice(0, 3)).toEqual([255, 0, 0]);
    expect((await pixel(chosen, 5, 5)).slice(0, 3)).toEqual([0, 255, 0]);
    expect((await sharp(chosen).metadata()).pages ?? 1).toBe(1);
    expect(none).toMatchObject({
      code: 'PAGE_RANGE',
      message: "Parameter '-frame' is 3, but the source has frames 0 to 2.",
    });
  });

  it.each([
    ['-reverse', [300, 200, 100]],
    ['-delete=0', [200, 300]],
  ])(
    'keep the delay of each frame after %s and an operator of the other engine',
    async (operator, delays) => {
      const source = await animation(colors, { ...size, format: 'gif' });

      const made = await convertOne(source, { format: 'gif', options: `${operator} -rounded-corners=4` });

      expect((await sharp(made, { animated: true }).metadata()).delay).toEqual(delays);
    },
  );
});

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
