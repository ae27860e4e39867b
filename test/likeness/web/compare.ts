import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { BOUND, type Comparison, differingPixels, TOLERANCE } from '../comparison.ts';
import { NoReference, SCROLLED } from './reference.ts';

const OUTLIERS = join(import.meta.dirname, '../../../dist/likeness/outliers');

interface Sides {
  /** What ours is, and whether the page looked still. */
  ours(): Promise<{ picture: Buffer; settled: boolean | undefined }>;
  /** What Chromium's own is at one of its visits, counted from 1. */
  theirs(visit: number): Promise<Buffer>;
}

/** The window of Chromium, CSS pixels; 0 where the picture is not as tall as the window at least. */
type WindowHeight = number;

/**
 * Compares ours with Chromium's own. If they differ, Chromium visits the page again, and once more to scroll through it:
 * ours must be like one of the three. A page that differs between the first two visits has no settled look to compare with.
 */
export async function compareOne(name: string, sides: Sides, window: WindowHeight): Promise<Comparison> {
  try {
    const theirs = await sides.theirs(1);
    if (await isBlank(theirs)) return { name, difference: 0, excluded: 'blank' };
    const { picture: ours, settled } = await sides.ours();
    const differ = async (other: Buffer) => differingPixels(ours, await withoutRest(other, ours, window));
    let difference = await differ(theirs);
    const visits = [theirs];
    for (let visit = 2; difference > BOUND && visit <= SCROLLED; visit++) {
      const again = await sides.theirs(visit);
      visits.push(again);
      difference = Math.min(difference, await differ(again));
    }
    const note = settled === false ? { note: 'never looks still' } : {};
    if (difference <= BOUND) return { name, difference, ...note };
    const own = await differingPixels(theirs, visits[1]!);
    if (own > BOUND) {
      return { name, difference, excluded: `Chromium differs from itself by ${(100 * own).toFixed(2)} %` };
    }
    await keep(name, ours, theirs);
    return { name, difference, ...note };
  } catch (thrown) {
    if (thrown instanceof NoReference) {
      return { name, difference: Number.NaN, excluded: `no reference: ${thrown.message}` };
    }
    return { name, difference: Number.NaN, note: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

async function isBlank(picture: Buffer, tolerance = 0): Promise<boolean> {
  const { channels } = await sharp(picture, { limitInputPixels: false }).stats();
  return channels.every(({ min, max }) => max - min <= tolerance);
}

/** Cuts off what a window shows below the end of a shorter page, if it is blank except for the edge of a shadow. */
async function withoutRest(theirs: Buffer, ours: Buffer, window: WindowHeight): Promise<Buffer> {
  const [{ height }, { width, height: whole }] = [
    await sharp(ours).metadata(),
    await sharp(theirs).metadata(),
  ];
  if (whole !== window || height >= whole) return theirs;
  const cut = (top: number, bottom: number) =>
    sharp(theirs)
      .extract({ left: 0, top, width, height: bottom - top })
      .png()
      .toBuffer();
  return (await isBlank(await cut(height, whole), TOLERANCE)) ? cut(0, height) : theirs;
}

/** Keeps both pictures of an outlier in `dist/likeness/outliers`, to be looked at. */
async function keep(name: string, ours: Buffer, theirs: Buffer): Promise<void> {
  await mkdir(OUTLIERS, { recursive: true });
  const path = join(OUTLIERS, name.replaceAll(/[^\w.=-]+/g, '_'));
  await Promise.all([writeFile(`${path}.ours.png`, ours), writeFile(`${path}.theirs.png`, theirs)]);
}
