import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { BOUND, type Comparison, differingPixels, TOLERANCE } from '../comparison.ts';
import { LATER, SETTLE_TIME, type Visit } from './chromium.ts';
import { NoReference } from './reference.ts';

const OUTLIERS = join(import.meta.dirname, '../../../dist/likeness/outliers');

interface Sides {
  /** Our result, and whether the page looked still. */
  ours(): Promise<{ picture: Buffer; settled: boolean | undefined }>;
  /** Returns Chromium's own result of one of its visits. */
  theirs(visit: Visit): Promise<Buffer>;
}

/** The window of Chromium, CSS pixels; 0 where the picture is not as tall as the window at least. A PDF has none. */
type WindowHeight = number | 'pdf';

/** Intended differences, with the visit at which Chromium shows the same. */
const WANTED: readonly { readonly visit: Visit; readonly reason: string; readonly of?: 'pdf' | 'image' }[] = [
  {
    visit: 'tables',
    reason: 'table headers and footers are repeated on each page, as for print media',
    of: 'pdf',
  },
  {
    visit: 'lowered',
    reason: 'what is fixed to the bottom of the window is at the bottom of the image',
    of: 'image',
  },
  { visit: 'resized', reason: 'the page changes when its window is as tall as itself for a moment' },
];

/**
 * Compares ours with Chromium's own. If they differ, Chromium visits the page again, and once more to scroll through it:
 * ours must be like one of the three. Otherwise looks for an explanation.
 */
export async function compareOne(name: string, sides: Sides, window: WindowHeight): Promise<Comparison> {
  try {
    const theirs = await sides.theirs('first');
    if (await isBlank(theirs)) return { name, difference: 0, excluded: 'blank' };
    const { picture: ours, settled } = await sides.ours();
    const differ = async (other: Buffer) => differingPixels(ours, await withoutRest(other, ours, window));
    const note = settled === false ? { note: 'never looks still' } : {};
    let difference = await differ(theirs);
    for (const visit of ['again', 'scrolled'] as const) {
      if (difference <= BOUND) break;
      difference = Math.min(difference, await differ(await sides.theirs(visit)));
    }
    if (difference <= BOUND) return { name, difference, ...note };
    await keep(name, ours, theirs);
    const random = await restless(theirs, sides, difference);
    if (random !== undefined) return { name, difference, explained: random, isRandom: true };
    const explained = await wanted(sides, differ, window);
    return { name, difference, ...note, ...(explained === undefined ? {} : { explained }) };
  } catch (thrown) {
    if (thrown instanceof NoReference) {
      return { name, difference: Number.NaN, excluded: `no reference: ${thrown.message}` };
    }
    return { name, difference: Number.NaN, note: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** Tells how a page differs from itself that has no settled look to compare with: about as much as ours differs. */
async function restless(theirs: Buffer, sides: Sides, difference: number): Promise<string | undefined> {
  const bound = Math.min(BOUND, difference / 2);
  const percent = (share: number) => `${(100 * share).toFixed(2)} %`;
  const again = await differingPixels(theirs, await sides.theirs('again'));
  if (again > bound) return `Chromium's own differs by ${percent(again)} from visit to visit`;
  const later = await differingPixels(theirs, await sides.theirs('later'));
  if (later <= bound) return undefined;
  return `Chromium's own changes by ${percent(later)} from ${SETTLE_TIME / 1000} to ${LATER / 1000} s after load`;
}

async function wanted(
  sides: Sides,
  differ: (other: Buffer) => Promise<number>,
  window: WindowHeight,
): Promise<string | undefined> {
  const kind = window === 'pdf' ? 'pdf' : 'image';
  for (const { visit, reason, of = kind } of WANTED) {
    if (of !== kind) continue;
    if ((await differ(await sides.theirs(visit))) <= BOUND) return reason;
  }
  return undefined;
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
