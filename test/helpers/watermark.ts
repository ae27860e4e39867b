import sharp from 'sharp';
import type { Format } from '../../functions/shared/formats.ts';
import { drawPage, readPdf } from './pdf.ts';

/** Share of the pixels of a picture that are red. */
async function redShare(picture: Buffer): Promise<number> {
  const { data, info } = await sharp(picture)
    .flatten({ background: '#fff' })
    .raw()
    .toBuffer({ resolveWithObject: true });
  let red = 0;
  for (let at = 0; at < data.length; at += info.channels) if (data[at]! > data[at + 1]! + 40) red += 1;
  return red / (info.width * info.height);
}

/** Returns the pages of a demo result and how much of the first one is red. */
export async function watermarkOf(result: Buffer, format: Format) {
  if (format !== 'pdf') return { pages: 1, red: await redShare(result) };
  const { pages } = await readPdf(result);
  const { width, height } = pages[0]!;
  return {
    pages: pages.length,
    red: await redShare(await drawPage(result, 1, 600 / Math.max(width, height))),
  };
}
