import sharp from 'sharp';

/** An image file or its bytes. */
export type Picture = string | Buffer;

/**
 * Says how unlike two images are: the mean difference of their channels, 0 to 255, after both were made 64 pixels
 * small on white. Below 3 they look alike; unrelated pages differ by 10 and more.
 */
export async function difference(one: Picture, other: Picture): Promise<number> {
  const [left, right] = await Promise.all([thumbnail(one), thumbnail(other)]);
  const sum = left.reduce((total, value, index) => total + Math.abs(value - right[index]!), 0);
  return sum / left.length;
}

/** Answers whether every pixel of an image has the same colour. */
export async function isBlank(picture: Picture): Promise<boolean> {
  // Statistics are of the input, so the white has to go in first.
  const flat = await sharp(picture).flatten({ background: '#fff' }).png().toBuffer();
  const { channels } = await sharp(flat).stats();
  return channels.every(({ min, max }) => min === max);
}

/** Red, green, blue and opacity (0 to 255) of one pixel. */
export async function pixel(
  picture: Picture,
  x: number,
  y: number,
): Promise<[number, number, number, number]> {
  const bytes = await sharp(picture)
    .toColourspace('srgb')
    .ensureAlpha()
    .extract({ left: x, top: y, width: 1, height: 1 })
    .raw()
    .toBuffer();
  return [...bytes] as [number, number, number, number];
}

async function thumbnail(picture: Picture): Promise<Buffer> {
  return sharp(picture)
    .flatten({ background: '#fff' })
    .resize(64, 64, { fit: 'fill' })
    .toColourspace('srgb')
    .raw()
    .toBuffer();
}
