import sharp from 'sharp';

/** Compares one of our results with that of another program. */
export interface Comparison {
  readonly name: string;
  /** Share of pixels that differ, 0 to 1. NaN if one of the two produced no result. */
  readonly difference: number;
  /** Why there is no result, or other information. */
  readonly note?: string;
  /** Why it does not count. */
  readonly excluded?: string;
}

/** Maximum share of pixels that may differ. */
export const BOUND = 0.01;

/** Maximum difference of a channel, 0 to 255, between equal pixels, because edges are smoothed differently. */
export const TOLERANCE = 32;

/** Returns the share of pixels that differ. Pixels outside of one of the two images differ. */
export async function differingPixels(one: string | Buffer, other: string | Buffer): Promise<number> {
  const [left, right] = await Promise.all([pixelsOf(one), pixelsOf(other)]);
  const width = Math.min(left.width, right.width);
  const height = Math.min(left.height, right.height);
  let alike = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [at, beside] = [3 * (y * left.width + x), 3 * (y * right.width + x)];
      const isAlike =
        Math.abs(left.data[at]! - right.data[beside]!) <= TOLERANCE &&
        Math.abs(left.data[at + 1]! - right.data[beside + 1]!) <= TOLERANCE &&
        Math.abs(left.data[at + 2]! - right.data[beside + 2]!) <= TOLERANCE;
      if (isAlike) alike += 1;
    }
  }
  return 1 - alike / (Math.max(left.width, right.width) * Math.max(left.height, right.height));
}

async function pixelsOf(image: string | Buffer) {
  const flat = sharp(image, { limitInputPixels: false })
    .flatten({ background: '#fff' })
    .toColourspace('srgb');
  const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Prints how similar all results are, and lists the ones that differ. */
export function report(all: readonly Comparison[]): string {
  const comparisons = all.filter(({ excluded }) => excluded === undefined);
  const outliers = comparisons.filter(({ difference }) => !(difference <= BOUND));
  const share = 100 * (1 - outliers.length / Math.max(1, comparisons.length));
  const lines = outliers
    .toSorted((one, other) => other.difference - one.difference)
    .map(({ name, difference, note }) => {
      const figure = Number.isNaN(difference) ? '–' : `${(100 * difference).toFixed(2)} %`;
      return `  ${figure.padStart(8)}  ${name}${note ? `: ${note}` : ''}`;
    });
  const head = `${share.toFixed(1)} % of ${comparisons.length} within ${100 * BOUND} % of pixels`;
  const without = all.flatMap(({ name, excluded }) =>
    excluded === undefined ? [] : [`  ${name}: ${excluded}`],
  );
  return [
    head,
    ...(lines.length > 0 ? ['Outliers:', ...lines] : []),
    ...(without.length > 0 ? [`Not counted (${without.length}):`, ...without] : []),
  ].join('\n');
}
