import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { IMAGE_CASES } from './images/cases.ts';
import { writeReport } from './images/report.ts';
import { startConverter, type Trial } from './images/run.ts';

/** Images that each option set is tried with. */
const IMAGES_PER_CASE = 3;
const MAX_PIXELS = 1_500_000;

/** Compares every option set with some of the images of a folder, so that all images get their turn. */
export async function compareWithImageMagick(folder: string): Promise<Trial[]> {
  const images = await findImages(folder);
  if (images.length < 30)
    throw new Error(`Expected at least 30 images in ${folder}, found ${images.length}.`);
  const converter = await startConverter();
  const trials: Trial[] = [];
  let turn = 0;
  for (const each of IMAGE_CASES) {
    for (let count = 0; count < IMAGES_PER_CASE; count += 1, turn += 1) {
      trials.push(await converter.tryCase(each, images[turn % images.length]!));
    }
  }
  await converter.close();
  return trials;
}

/** Returns the images that both sides can decode, and that are quick to compare. */
async function findImages(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const usable: string[] = [];
  for (const path of paths.sort()) {
    const {
      width = 0,
      height = 0,
      format,
    } = await sharp(path)
      .metadata()
      .catch(() => ({ width: 0, height: 0, format: '' }));
    if (Math.min(width, height) >= 60 && width * height <= MAX_PIXELS && format !== 'svg') usable.push(path);
  }
  return usable;
}

/** Compares with the images of a folder, prints what differs, and returns the exit code. */
export async function run(folder: string, { write }: { write: boolean }): Promise<number> {
  const unexplained = await writeReport(await compareWithImageMagick(folder), { write });
  return unexplained > 0 ? 1 : 0;
}
