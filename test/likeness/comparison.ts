import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { type Measured, sectionOf, writeMeasured } from '../run/report.ts';

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

/** How many sources a case is compared with. */
interface Count {
  /** Number of sources that count. */
  readonly wanted: number;
  /** Maximum number of sources to try. */
  readonly maxTries: number;
}

/**
 * Returns a function that compares sources until enough of them count, and continues where the last call ended. `compare`
 * returns whether a source counts: neither side has a result for some, such as damaged ones.
 */
export function inTurn(sources: readonly string[]) {
  let turn = 0;
  return async (
    { wanted, maxTries }: Count,
    compare: (source: string) => Promise<boolean>,
  ): Promise<void> => {
    const limit = Math.min(sources.length, maxTries);
    for (let tries = 0, compared = 0; tries < limit && compared < wanted; tries += 1) {
      if (await compare(sources[turn++ % sources.length]!)) compared += 1;
    }
  };
}

/** Judges a row by the number of its results that differ. Its reason is why they may. */
export function verdictOf(unlike: number, results: number, reason?: string) {
  if (unlike === 0) return { verdict: results > 0 ? 'same' : 'not compared' };
  return { verdict: reason ? 'explained' : 'unexplained', reason };
}

/** Prints a comparison and, with `write`, writes it into the data file and the README of this folder. */
export function reportLikeness(name: string, measured: Measured, write: boolean): void {
  console.table(measured.rows);
  console.log(sectionOf(measured));
  if (write) writeMeasured(import.meta.dirname, name, measured);
}

/** Returns the files of a folder that `accepts` returns true for, in order. */
export async function listSources(folder: string, accepts: (path: string) => boolean): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(accepts)
    .sort();
}

/** Returns at most `limit` sources, spread evenly over all. */
export function spread(sources: readonly string[], limit: number): string[] {
  const step = Math.max(1, Math.ceil(sources.length / limit));
  return sources.filter((_, index) => index % step === 0);
}
