import sharp from 'sharp';
import { IMAGE_CASES } from './images/cases.ts';
import { writeReport } from './images/report.ts';
import { startConverter, type Trial } from './images/run.ts';
import { listSources } from './sources.ts';

/** Maximum number of images per option set. */
const IMAGES_PER_CASE = 3;
/** Number of concurrent trials. */
const PARALLEL = 4;
const MAX_PIXELS = 1_500_000;

/** Compares every option set on some images of a folder, so that all images are used in turn. */
async function compareWithImageMagick(folder: string, limit: number): Promise<Trial[]> {
  const images = await findImages(folder);
  if (images.length < 30)
    throw new Error(`Expected at least 30 images in ${folder}, found ${images.length}.`);
  const converter = await startConverter();
  const count = Math.min(limit, IMAGES_PER_CASE);
  const pairs = IMAGE_CASES.flatMap((each, row) =>
    Array.from(
      { length: count },
      (_, index) => [each, images[(row * count + index) % images.length]!] as const,
    ),
  );
  const trials: Trial[] = [];
  for (let at = 0; at < pairs.length; at += PARALLEL) {
    const batch = pairs.slice(at, at + PARALLEL).map(([each, image]) => converter.tryCase(each, image));
    trials.push(...(await Promise.all(batch)));
  }
  await converter.close();
  return trials;
}

/** Returns the images that both sides can decode, and that are quick to compare. */
async function findImages(folder: string): Promise<string[]> {
  const usable: string[] = [];
  for (const path of await listSources(folder, () => true)) {
    const {
      width = 0,
      height = 0,
      format,
      hasProfile,
    } = await sharp(path)
      .metadata()
      .catch(() => ({ width: 0, height: 0, format: '', hasProfile: false }));
    if (Math.min(width, height) < 60 || width * height > MAX_PIXELS || format === 'svg') continue;
    // Colors are converted to sRGB first, where ImageMagick works on those of the profile.
    if (!hasProfile) usable.push(path);
  }
  return usable;
}

/**
 * Compares with the images of a folder, prints what differs, and returns the exit code. `limit` is the number of images for
 * each set.
 */
export async function run(
  folder: string,
  { write, limit }: { readonly write: boolean; readonly limit: number },
): Promise<number> {
  const unexplained = writeReport(await compareWithImageMagick(folder, limit), { write });
  return unexplained > 0 ? 1 : 0;
}
