import sharp from 'sharp';

/** An image file or its bytes. */
export type Picture = string | Buffer;

/**
 * Returns the mean difference of two images' channels, 0 to 255, after both were reduced to 64 pixels
 * on white. Below 3 they look alike. Unrelated pages differ by 10 and more.
 */
export async function difference(one: Picture, other: Picture): Promise<number> {
  const [left, right] = await Promise.all([thumbnail(one), thumbnail(other)]);
  const sum = left.reduce((total, value, index) => total + Math.abs(value - right[index]!), 0);
  return sum / left.length;
}

/** Returns whether every pixel of an image has the same color. */
export async function isBlank(picture: Picture): Promise<boolean> {
  // Statistics are computed from the input, so the white background must be added first.
  const flat = await sharp(picture).flatten({ background: '#fff' }).png().toBuffer();
  const { channels } = await sharp(flat).stats();
  return channels.every(({ min, max }) => min === max);
}

/** Returns red, green, blue and opacity (0 to 255) of one pixel. */
export async function pixel(
  picture: Picture,
  x: number,
  y: number,
): Promise<[number, number, number, number]> {
  const bytes = await sharp(picture)
    .toColorspace('srgb')
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
    .toColorspace('srgb')
    .raw()
    .toBuffer();
}
