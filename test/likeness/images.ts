import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { createEngine } from '../../functions/imageproc/convert.ts';
import { imageproc } from '../../functions/imageproc/tool.ts';
import { parametersOf, startEngine } from '../lab/engine.ts';
import { listSources, reportLikeness, verdictOf } from './comparison.ts';
import { IMAGE_CASES, type ImageCase } from './images-cases.ts';

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

const execute = promisify(execFile);

const TWO_WORDS = /^[-+](annotate|distort|evaluate|floodfill|function|morphology|sparse-color|statistic)$/;

/** Options whose ImageMagick arguments are a word and its value, or a bare word. */
function toArguments(options: string): string[] {
  return options
    .split(' ')
    .filter(Boolean)
    .flatMap((option) => {
      const at = option.indexOf('=');
      if (at < 0) return [option];
      const [name, value] = [
        option.slice(0, at),
        option
          .slice(at + 1)
          .replaceAll('_', ' ')
          .replace('\\!', '!'),
      ];
      // ImageMagick expects two arguments.
      const pair = TWO_WORDS.test(name) ? /^(\S+) (.*)$/.exec(value) : null;
      return pair ? [name, pair[1]!, pair[2]!] : [name, value];
    });
}

/** Converts the first frame with ImageMagick, with our defaults: frames are complete, upright and on white. */
async function convertWithImageMagick(
  source: string,
  output: string,
  args: readonly string[],
): Promise<void> {
  // Only frames of an animation belong on a canvas. Scans can have an offset, by which ImageMagick would shift them.
  const complete = /\.(gif|webp)$/i.test(source) ? ['-coalesce'] : ['+repage'];
  const defaults = [...complete, '-auto-orient', '+repage', '-background', 'white'];
  await execute('magick', [`${source}[0]`, ...defaults, ...args, '+repage', output], { timeout: 60_000 });
}

/** Returns whether ImageMagick is installed. */
export async function hasImageMagick(): Promise<boolean> {
  return execute('magick', ['-version']).then(
    () => true,
    () => false,
  );
}

/** How similar two images are. */
interface ImageComparison {
  readonly ours: string;
  readonly theirs: string;
  readonly sameSize: boolean;
  /** Mean difference of all samples on white and of the opacity, 0 to 255. */
  readonly difference: number;
}

/** Below this mean difference, images look the same side by side. */
const ALIKE = 2;

/** Compares two images pixel by pixel. */
export async function compareImages(ours: Buffer, theirs: Buffer): Promise<ImageComparison> {
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

/** The result of one option set with one image. */
interface Trial extends Partial<ImageComparison> {
  readonly options: string;
  readonly source: string;
  readonly verdict: 'same' | 'differs' | 'failed';
  /** The error of one side. */
  readonly error?: string;
}

/** Converts images with our engine, without a server around it. */
export async function startConverter() {
  const engine = await startEngine(imageproc, createEngine);
  let tries = 0;

  const convert = async (source: string, options: string) => {
    const given = parametersOf(options).map(({ name, value }) => ({
      name,
      value: value.replaceAll('_', ' '),
    }));
    const asked = { name: '', options: given, format: 'png', time: 60_000 } as const;
    return (await engine.convert(source, asked)).files[0]!;
  };

  /** Runs one option set on both sides. */
  async function tryCase({ options, theirs }: ImageCase, source: string): Promise<Trial> {
    tries += 1;
    const output = join(engine.temporary, `theirs-${tries}.png`);
    const name = source.split('/').at(-1)!;
    const [ours, reference] = await Promise.allSettled([
      convert(source, options),
      convertWithImageMagick(source, `PNG:${output}`, toArguments(theirs ?? options)).then(() =>
        readFile(output),
      ),
    ]);
    const failed = [ours, reference].find((result) => result.status === 'rejected');
    if (ours.status === 'rejected' && reference.status === 'rejected') {
      return { options, source: name, verdict: 'same', error: 'both fail' };
    }
    if (failed || ours.status === 'rejected' || reference.status === 'rejected') {
      const side = ours.status === 'rejected' ? 'ours' : 'ImageMagick';
      const error = `${side}: ${String(failed?.reason).split('\n')[0]!.slice(0, 200)}`;
      return { options, source: name, verdict: 'failed', error };
    }
    const comparison = await compareImages(ours.value, reference.value);
    const alike = comparison.sameSize && comparison.difference <= ALIKE;
    return { options, source: name, verdict: alike ? 'same' : 'differs', ...comparison };
  }

  return { convert, tryCase, close: engine.close };
}

/** Prints the differences, writes them if requested, and returns how many sets differ without a reason. */
function writeReport(trials: readonly Trial[], { write }: { write: boolean }): number {
  const rows = IMAGE_CASES.map(({ options, reason }) => {
    const own = trials.filter((trial) => trial.options === options);
    const unlike = own.filter(({ verdict }) => verdict !== 'same');
    const worst = Math.max(...own.map(({ difference = 0 }) => (Number.isNaN(difference) ? 255 : difference)));
    return { options, reason, own, unlike, worst };
  });
  for (const { unlike, reason } of rows) {
    for (const { options, source, ours, theirs, difference, error } of unlike) {
      const what =
        error ?? (ours === theirs ? `difference ${difference?.toFixed(2)}` : `${ours} against ${theirs}`);
      console.log(`${reason ? 'known' : 'DIFFERS'}  ${options}  ${source}  ${what}`);
    }
  }
  const unexplained = rows.filter(({ unlike, reason }) => unlike.length > 0 && !reason);
  const images = new Set(trials.map(({ source }) => source)).size;
  const lines = rows.map(({ options, reason, own, unlike, worst }) => ({
    name: `\`${options.replaceAll('_', ' ')}\``,
    ...verdictOf(unlike.length, own.length, reason),
    measured: worst.toFixed(1),
  }));
  reportLikeness('imageproc', { run: `${images} images`, rows: lines }, write);
  return unexplained.length;
}
