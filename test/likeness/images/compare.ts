import sharp from 'sharp';

/** How similar two images are. */
export interface Comparison {
  readonly ours: string;
  readonly theirs: string;
  readonly sameSize: boolean;
  /** Mean difference of all samples on white and of the opacity, 0 to 255. */
  readonly difference: number;
}

/** Below this mean difference, images look the same side by side. */
export const ALIKE = 2;

/** Compares two images pixel by pixel. */
export async function compareImages(ours: Buffer, theirs: Buffer): Promise<Comparison> {
  const [one, other] = await Promise.all([decode(ours), decode(theirs)]);
  const sizes = { ours: `${one.width}x${one.height}`, theirs: `${other.width}x${other.height}` };
  const sameSize = sizes.ours === sizes.theirs;
  if (!sameSize) return { ...sizes, sameSize, difference: Number.NaN };
  let sum = 0;
  for (let at = 0; at < one.samples.length; at += 1) sum += Math.abs(one.samples[at]! - other.samples[at]!);
  return { ...sizes, sameSize, difference: sum / one.samples.length };
}

/** Decodes to RGBA, with colors blended with white. */
async function decode(image: Buffer) {
  const { data, info } = await sharp(image, { limitInputPixels: false })
    .toColorspace('srgb')
    .ensureAlpha()
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  for (let at = 0; at < data.length; at += 4) {
    const alpha = data[at + 3]! / 255;
    for (let channel = at; channel < at + 3; channel += 1)
      data[channel] = 255 - (255 - data[channel]!) * alpha;
  }
  return { samples: data, width: info.width, height: info.height };
}
