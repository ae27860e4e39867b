import sharp from 'sharp';
import { randomNumbers } from '../../random.ts';

/** Creates an image with the detail of a photograph: layers of increasingly fine noise. */
export async function makePhoto(width: number, height: number, seed: number, quality = 90): Promise<Buffer> {
  const random = randomNumbers(seed);
  const grain = async (cells: number) => {
    const rows = Math.max(2, Math.round((cells * height) / width));
    const pixels = Buffer.from(Array.from({ length: cells * rows * 3 }, () => Math.floor(random() * 256)));
    return sharp(pixels, { raw: { width: cells, height: rows, channels: 3 } })
      .resize(width, height, { fit: 'fill', kernel: 'cubic' })
      .png({ compressionLevel: 0 })
      .toBuffer();
  };
  let picture = await grain(4);
  for (const [cells, weight] of [
    [24, 0.4],
    [700, 0.2],
    [2400, 0.25],
  ] as const) {
    const layer = await sharp(await grain(cells))
      .ensureAlpha(weight)
      .png({ compressionLevel: 0 })
      .toBuffer();
    picture = await sharp(picture)
      .composite([{ input: layer }])
      .png({ compressionLevel: 0 })
      .toBuffer();
  }
  return sharp(picture).removeAlpha().jpeg({ quality }).toBuffer();
}
