import sharp from 'sharp';
import { joinTiffPages } from '../engines/image/tiff/join-pages.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkImageSize } from '../shared/formats.ts';
import { contextOf, edit } from './edit.ts';
import { encode, encodePipeline } from './encode/encode.ts';
import { encodeOptions } from './encode/options.ts';
import { fill, paste } from './operators/blend.ts';
import { append, extract } from './operators/canvas.ts';
import { type OperatorStep, operatorsOf } from './options/steps.ts';
import { narrow, type Pixels, render, withAlpha } from './pixels.ts';
import type { ImageprocRequest } from './request.ts';
import type { Frame, Source } from './source/decode.ts';
import { checkSourcePixels, damaged } from './source/limits.ts';

type OneFrame = { readonly pixels: Pixels; readonly frame: Pick<Frame, 'density'> };

/** Returns whether a source has several frames or pages that belong together and none of them was selected. */
export function isSequence({ kind, frames }: Source, { options, limits }: ImageprocRequest): boolean {
  const sequence = (kind === 'gif' || kind === 'webp' || kind === 'tiff') && frames > 1;
  if (sequence && options.frame === undefined && frames > limits.pages) {
    throw new ConversionError(
      'SOURCE_TOO_LARGE',
      `The source has ${frames} frames. The maximum is ${limits.pages}.`,
    );
  }
  return sequence && options.frame === undefined;
}

/** Yields the frames of an animation or the pages of a TIFF, decoded. */
async function* decodeFrames(source: Source, { limits }: ImageprocRequest): AsyncGenerator<OneFrame> {
  const { kind, frames, metadata } = source;
  if (kind === 'tiff') {
    for (let index = 0; index < frames; index += 1) {
      const frame = await source.frame(index);
      yield { pixels: await render(frame.pipeline, frame.depth).catch(damaged), frame };
    }
    return;
  }
  checkSourcePixels(metadata.width, metadata.height * frames, limits.pixels);
  const roll = await render(source.all().ensureAlpha(), 8).catch(damaged);
  const height = roll.height / frames;
  for (let index = 0; index < frames; index += 1) {
    const pixels = extract(roll, { left: 0, top: index * height, width: roll.width, height });
    yield { pixels, frame: { density: undefined } };
  }
}

/** Returns the position of an `-append` without a URL, which joins all frames. */
export function frameAppend(operators: readonly OperatorStep[]): number {
  return operators.findIndex(({ operator, value }) => /^append/.test(operator) && value === '');
}

/** Edits every frame up to an `-append` without a URL, and joins them there. */
export async function appendFrames(source: Source, request: ImageprocRequest, at: number): Promise<Pixels> {
  const operators = operatorsOf(request.options.steps);
  const step = operators[at]!;
  const frames: Pixels[] = [];
  let total = 0;
  for await (const { pixels } of decodeFrames(source, request)) {
    const frame = await edit(pixels, operators.slice(0, at), request);
    total += frame.width * frame.height;
    checkFrames(total, request.limits.pixels);
    frames.push(frame);
  }
  return append(frames, step.operator === 'appendRight' ? 'right' : 'down', contextOf(request, step));
}

/** Checks the pixels of all frames so far, before the next one is decoded. */
function checkFrames(total: number, maxPixels: number): void {
  if (total <= maxPixels) return;
  const message = `The frames would have ${total} pixels. The maximum is ${maxPixels} pixels in total.`;
  throw new ConversionError('RESULT_TOO_LARGE', message);
}

/** Applies all operators to every page and writes them as one TIFF. */
export async function convertPages(source: Source, request: ImageprocRequest): Promise<Buffer> {
  const operators = operatorsOf(request.options.steps);
  const pages: Buffer[] = [];
  for await (const { pixels, frame } of decodeFrames(source, request)) {
    const edited = await edit(pixels, operators, request);
    pages.push(await encode(edited, 'tiff', encodeOptions(request, source, frame)));
    if (pages.reduce((sum, page) => sum + page.length, 0) > request.limits.resultBytes) {
      const message = `The result is larger than ${request.limits.resultBytes} bytes.`;
      throw new ConversionError('RESULT_TOO_LARGE', message);
    }
  }
  return joinTiffPages(pages);
}

/** Applies all operators to every frame and writes them as one animation. */
export async function convertAnimation(
  source: Source,
  request: ImageprocRequest,
  format: 'gif' | 'webp',
): Promise<Buffer> {
  const operators = operatorsOf(request.options.steps);
  const frames: Pixels[] = [];
  let total = 0;
  for await (const { pixels } of decodeFrames(source, request)) {
    const frame = withAlpha(narrow(await edit(pixels, operators, request)));
    total += frame.width * frame.height;
    checkFrames(total, request.limits.pixels);
    frames.push(frame);
  }
  const canvases = sameSize(frames);
  const { width, height } = canvases[0]!;
  checkImageSize({ width, height: height * canvases.length }, { maxPixels: request.limits.pixels });
  checkImageSize({ width, height }, { format });
  const raw = { width, height: height * canvases.length, channels: 4, pageHeight: height } as const;
  const roll = sharp(Buffer.concat(canvases.map(({ samples }) => samples as Uint8Array)), {
    raw,
    limitInputPixels: false,
  });
  const { delay = [100], loop = 0 } = source.metadata;
  const options = { ...encodeOptions(request, source, { density: undefined }), animation: { delay, loop } };
  if (format === 'webp') return encodePipeline(roll, 'webp', options);
  return roll.gif({ effort: 3, dither: options.dither ? 1 : 0, delay, loop }).toBuffer();
}

/** Returns frames of one size. Smaller ones get transparent edges at the right and at the bottom. */
function sameSize(frames: readonly Pixels[]): readonly Pixels[] {
  const width = Math.max(...frames.map((frame) => frame.width));
  const height = Math.max(...frames.map((frame) => frame.height));
  return frames.map((frame) => {
    if (frame.width === width && frame.height === height) return frame;
    const canvas = fill(frame, { width, height }, 4, [0, 0, 0, 0]);
    paste(canvas, frame, { left: 0, top: 0 });
    return canvas;
  });
}
