import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { densityOf } from '../../../functions/imageproc/source/density.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { quarters } from '../../fixtures/image.ts';
import { difference } from '../../helpers/pixels.ts';
import { useEngine, useOwnEngine } from '../conversion.ts';
import { PICTURE } from './picture.ts';

const { convertOne } = useEngine(imageproc, createEngine);

describe('the resolution', () => {
  const scan = quarters(80, 60)
    .tiff({ xres: 300 / 25.4, yres: 300 / 25.4, resolutionUnit: 'inch' })
    .toBuffer();

  it.each(['jpg', 'png', 'tiff'] as const)(
    'of a scan survives as %s, also through operators',
    async (format) => {
      for (const options of ['', '-resize=50%', '-flip -negate']) {
        const made = await convertOne(await scan, { format, options });

        const { x, y } = densityOf(format, made, 0)!;
        expect([Math.round(x), Math.round(y)]).toEqual([300, 300]);
      }
    },
  );

  it.each(['jpg', 'png', 'tiff'] as const)('may differ between the axes: %s', async (format) => {
    const made = await convertOne(PICTURE, { format, options: '-density=204x98' });

    const { x, y } = densityOf(format, made, 0)!;
    expect([Math.round(x), Math.round(y)]).toEqual([204, 98]);
  });

  it('is absent if the source has none, or with -units=Undefined', async () => {
    const plain = await convertOne(await quarters(80, 60).webp().toBuffer(), { format: 'png' });
    const removed = await convertOne(await scan, { format: 'jpg', options: '-units=Undefined' });

    expect(densityOf('png', plain, 0)).toBeUndefined();
    expect(densityOf('jpg', removed, 0)).toBeUndefined();
  });
});

describe('metadata', () => {
  const camera = quarters(80, 60)
    .withMetadata({ orientation: 6, icc: 'p3', exif: { IFD0: { Copyright: 'somebody' } } })
    .jpeg({ quality: 95 })
    .toBuffer();

  it.each(['jpg', 'png', 'webp'] as const)('is kept with -strip=no: %s', async (format) => {
    const made = await convertOne(await camera, { format, options: '-strip=no -resize=50%' });

    const { icc, exif, orientation = 1, width, height } = await sharp(made).metadata();
    expect(icc?.includes(Buffer.from('acsp'))).toBe(true);
    expect(exif?.includes('somebody')).toBe(true);
    // The orientation is upright now.
    expect({ orientation, width, height }).toEqual({ orientation: 1, width: 30, height: 40 });
    expect(await difference(made, await convertOne(await camera, { format: 'png' }))).toBeLessThan(8);
  });

  it('is kept in part with -keep', async () => {
    const made = await convertOne(await camera, { format: 'jpg', options: '-keep=icc' });

    const { icc, exif } = await sharp(made).metadata();
    expect(icc).toBeDefined();
    expect(exif).toBeUndefined();
  });
});

describe('a jpg', () => {
  it('is as large as jpeg:extent allows', async () => {
    const noise = Buffer.from(
      Array.from({ length: 200 * 200 * 3 }, (_, at) => (at * 7919 + (at >> 5) * 31) % 256),
    );
    const source = await sharp(noise, { raw: { width: 200, height: 200, channels: 3 } })
      .png()
      .toBuffer();

    const made = await convertOne(source, { format: 'jpg', options: '-define=jpeg:extent=20kb' });

    expect(made.length).toBeLessThanOrEqual(20_000);
    expect(made.length).toBeGreaterThan(15_000);
  });

  it('is gray if the image is', async () => {
    const made = await convertOne(PICTURE, { format: 'jpg', options: '-colorspace=Gray' });

    expect(await sharp(made).metadata()).toMatchObject({ space: 'b-w', channels: 1 });
  });

  it.each([
    ['-sampling-factor=2x2', '4:2:0'],
    ['-sampling-factor=4:4:4 -quality=50', '4:4:4'],
    ['-define=jpeg:sampling-factor=4:2:0', '4:2:0'],
  ])('has the color resolution of %s', async (options, chromaSubsampling) => {
    const made = await convertOne(PICTURE, { format: 'jpg', options });

    expect(await sharp(made).metadata()).toMatchObject({ chromaSubsampling });
  });

  it('treats -quality=0 as the default', async () => {
    const made = await convertOne(PICTURE, { format: 'jpg', options: '-quality=0' });

    expect(made.equals(await convertOne(PICTURE, { format: 'jpg' }))).toBe(true);
  });
});

it('writes a lossless webp', async () => {
  const made = await convertOne(PICTURE, { format: 'webp', options: '-define=webp:lossless=true' });

  expect(await difference(made, PICTURE)).toBe(0);
});

const asked: string[] = [];
let open = 0;
let most = 0;

/** Fails, as the deployment's own download would, for the fourth image. */
async function download(url: string) {
  asked.push(url);
  open += 1;
  most = Math.max(most, open);
  await setTimeout(20);
  open -= 1;
  if (url.endsWith('/4')) throw new ConversionError('SOURCE_STATUS', 'The server returned status 404.');
  return { path: '/nowhere', name: '', contentType: '', bytes: 0 };
}

const { refusal } = useOwnEngine(imageproc, (dependencies) => createEngine({ ...dependencies, download }));

it('images of operators are downloaded one at a time, by the download of the deployment', async () => {
  const images = Array.from({ length: 9 }, (_, index) => `-composite=http://images.example/${index + 1}`);

  const refused = await refusal(PICTURE, { format: 'png', options: images.join(' ') });

  expect(refused).toMatchObject({ code: 'SOURCE_STATUS' });
  expect(asked.map((url) => url.at(-1))).toEqual(['1', '2', '3', '4']);
  expect(most).toBe(1);
  expect(open).toBe(0);
});
