import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { quarters } from '../fixtures/image.ts';
import { compareImages, hasImageMagick, startConverter } from './images.ts';
import { IMAGE_CASES } from './images-cases.ts';

/** One option set out of this many is tried. */
const SHARE = 6;

const folder = await mkdtemp(join(tmpdir(), 'docmill-likeness-'));
const source = join(folder, 'soft.png');
// Soft color gradients, on which filters of all kinds agree.
await writeFile(source, await quarters(160, 120).blur(12).png().toBuffer());
const converter = await startConverter();
afterAll(async () => {
  await converter.close();
  await rm(folder, { recursive: true });
});

const sets = IMAGE_CASES.filter(({ reason }) => !reason).filter((_, index) => index % SHARE === 0);

describe.skipIf(!(await hasImageMagick()))(
  'imageproc makes what ImageMagick makes (needs magick of ImageMagick 7)',
  () => {
    it.each(sets.map((each) => [each.options, each] as const))('of %s', async (_, each) => {
      expect(await converter.tryCase(each, source)).toMatchObject({ verdict: 'same' });
    });
  },
);

it('distinguishes different images', async () => {
  const [one, other] = [
    await quarters(40, 40).png().toBuffer(),
    await quarters(40, 40).negate().png().toBuffer(),
  ];

  expect((await compareImages(one, other)).difference).toBeGreaterThan(50);
  expect((await compareImages(one, await sharp(one).resize(20).png().toBuffer())).sameSize).toBe(false);
});
