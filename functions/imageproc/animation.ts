import sharp, { type Sharp } from 'sharp';
import { ConversionError } from '../shared/errors.ts';
import type { Size } from '../shared/options/parameters.ts';
import { checkPixels, damaged, type Source } from './decode.ts';
import { type Picture, type Pixels, reopen, settle } from './picture.ts';
import type { ImageprocRequest } from './request.ts';

/** Whether the result moves: an animation asked for as gif or webp, and no frame of it chosen. */
export function isAnimated({ metadata, kind }: Source, { format, options }: ImageprocRequest): boolean {
  const moves = (kind === 'gif' || kind === 'webp') && (metadata.pages ?? 1) > 1;
  return moves && options.frame === undefined && (format === 'gif' || format === 'webp');
}

/**
 * Does the same to every frame of an animation.
 * @throws ConversionError `SOURCE_TOO_LARGE` where all frames together are more than the limit
 */
export async function animate(
  source: Source,
  request: ImageprocRequest,
  edit: (frame: Picture) => Promise<Picture>,
): Promise<{ roll: Sharp; delay: number[]; loop: number; frame: Size }> {
  const { metadata, input } = source;
  const { pixels } = request.limits;
  const pages = metadata.pages!;
  checkPixels(metadata.width, metadata.height * pages, pixels);
  const all = sharp(input, { animated: true, limitInputPixels: pixels, failOn: 'error' }).ensureAlpha();
  const { bytes, width, height, channels } = await settle({ pipeline: all }).catch(damaged);

  const frames: Pixels[] = [];
  for (let page = 0; page < pages; page += 1) {
    const size = bytes.length / pages;
    const frame = reopen({
      bytes: bytes.subarray(page * size, (page + 1) * size),
      width,
      height: height / pages,
      channels,
    });
    const edited = await edit(frame);
    frames.push(await settle({ pipeline: edited.pipeline.ensureAlpha() }));
    checkFrames(frames, pixels, pages);
  }
  const [first] = frames as [Pixels];
  const raw = {
    width: first.width,
    height: first.height * pages,
    channels: 4,
    pageHeight: first.height,
  } as const;
  const roll = sharp(Buffer.concat(frames.map((frame) => frame.bytes)), { raw, limitInputPixels: false });
  const { delay = [100], loop = 0 } = metadata;
  return { roll, delay, loop, frame: first };
}

function checkFrames(frames: readonly Pixels[], maxPixels: number, pages: number): void {
  const [first, last] = [frames[0]!, frames.at(-1)!];
  if (first.width !== last.width || first.height !== last.height) {
    const message = "Parameter '-trim' makes the frames of the animation unlike; choose one with '-frame'.";
    throw new ConversionError('BAD_PARAMETER', message);
  }
  if (first.width * first.height * pages > maxPixels) {
    const size = `${pages} frames of ${first.width}x${first.height} pixels`;
    throw new ConversionError(
      'RESULT_TOO_LARGE',
      `The result would be ${size}, more than ${maxPixels} in all.`,
    );
  }
}
