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
  /** Why it may differ. It counts as different. */
  readonly explained?: string;
  /** Whether the other program's own results differ in the same way. */
  readonly isRandom?: boolean;
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
  const flat = sharp(image, { limitInputPixels: false }).flatten({ background: '#fff' }).toColorspace('srgb');
  const { data, info } = await flat.raw().toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Prints how similar all results are, and lists the ones that differ. */
export function report(all: readonly Comparison[]): string {
  const comparisons = all.filter(({ excluded }) => excluded === undefined);
  const different = comparisons
    .filter(({ difference }) => !(difference <= BOUND))
    .toSorted((one, other) => other.difference - one.difference);
  const explained = different.filter(({ explained }) => explained !== undefined);
  const outliers = different.filter(({ explained }) => explained === undefined);
  const share = (count: number, total = comparisons.length) =>
    `${(100 * (1 - count / Math.max(1, total))).toFixed(1)} % of ${total}`;
  const random = different.filter(({ isRandom }) => isRandom).length;
  const head = [
    `${share(different.length)} within ${100 * BOUND} % of pixels`,
    ...(random > 0
      ? [`${share(different.length - random, comparisons.length - random)} without those that are random`]
      : []),
    ...(explained.length > 0 ? [`${share(outliers.length)} within it or explained`] : []),
  ].join(', ');
  const without = all.filter(({ excluded }) => excluded !== undefined);
  return [
    head,
    ...list(
      'Outliers',
      outliers.map((one) => describe(one, one.note)),
    ),
    ...list(
      'Explained',
      explained.map((one) => describe(one, one.explained)),
    ),
    ...list(
      'Not counted',
      without.map(({ name, excluded }) => `  ${name}: ${excluded}`),
    ),
  ].join('\n');
}

function list(title: string, lines: readonly string[]): readonly string[] {
  return lines.length > 0 ? [`${title} (${lines.length}):`, ...lines] : [];
}

function describe({ name, difference }: Comparison, reason: string | undefined): string {
  const figure = Number.isNaN(difference) ? '–' : `${(100 * difference).toFixed(2)} %`;
  return `  ${figure.padStart(8)}  ${name}${reason ? `: ${reason}` : ''}`;
}
