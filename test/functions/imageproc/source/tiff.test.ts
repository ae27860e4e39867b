import sharp from 'sharp';
import { expect, it } from 'vitest';
import { pageSelector } from '../../../../functions/imageproc/source/tiff.ts';
import { joinTiffPages, quarters } from '../../../fixtures/image.ts';

const widths = [10, 20, 30] as const;
const joined = joinTiffPages(
  await Promise.all(widths.map((width) => quarters(width, 10).tiff({ compression: 'lzw' }).toBuffer())),
);

it('makes each page the only one, in any order', async () => {
  const tiff = Buffer.from(joined);
  const select = pageSelector(tiff, 3)!;

  const seen = [];
  for (const page of [2, 0, 1]) {
    select(page);
    const { pages, width } = await sharp(tiff).metadata();
    seen.push({ pages, width });
  }

  expect(seen).toEqual([30, 10, 20].map((width) => ({ pages: 1, width })));
});

it('does not select pages of a file that has another number of them', () => {
  expect(pageSelector(Buffer.from(joined), 2)).toBeUndefined();
  expect(pageSelector(Buffer.from(joined), 4)).toBeUndefined();
});
