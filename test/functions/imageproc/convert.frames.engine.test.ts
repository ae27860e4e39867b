import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { animation } from '../../fixtures/image.ts';
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
