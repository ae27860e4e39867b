import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { serveRequests } from '../engines/worker/serve.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkImageSize } from '../shared/formats.ts';
import type { Size } from '../shared/options/geometry.ts';
import { encode, encodePipeline } from './encode/encode.ts';
import { extrasOf, keepsProfile, matteOf, resultDensity } from './encode/options.ts';
import { encodePng, keepExtras } from './encode/png-file.ts';
import { has, isPipelineFormat } from './formats.ts';
import { applyOperation, isResize, resizePipeline } from './operators/sharp.ts';
import type { Operation } from './options/steps.ts';
import { toColor } from './options/values.ts';
import { isDct, type PdfRequest, writePdf } from './pdf.ts';
import { isOpaque, type Pixels, render, withoutAlpha } from './pixels.ts';
import type { Frames, ImageprocRequest, ImageprocResult, Written } from './request.ts';
import { type Frame, openSource, type Source } from './source/decode.ts';
import { checkSourcePixels, damaged, Foreign } from './source/detect.ts';

sharp.concurrency(availableParallelism());
sharp.cache(false);
// Allows only libvips' readers of supported formats.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Svg', 'Heif'].map(
    (reader) => `VipsForeignLoad${reader}`,
  ),
});

await serveRequests<{ convert: ImageprocRequest; pdf: PdfRequest }>({
  pdf: writePdf,
  convert: (request) =>
    convert(request).catch((thrown: unknown) => {
      if (thrown instanceof Foreign) return { foreign: thrown.decoding };
      throw thrown;
    }),
});

async function convert(request: ImageprocRequest): Promise<ImageprocResult> {
  const { options, limits, paths } = request;
  const { autoOrient, density } = options;
  const [first, ...others] = paths;
  const reading = { limits, options: { autoOrient, density, ignoreIcc: keepsProfile(options) } };
  const source = await openSource({
    ...reading,
    path: first!,
    options: { ...reading.options, frame: options.frame },
  });
  try {
    return { ...(await convertSource()), kind: source.kind, warning: source.warning };
  } catch (thrown) {
    return source.failed(thrown);
  }

  async function convertSource(): Promise<Written | Frames> {
    if (request.keepsSource && source.kind === 'jpg' && isDct(readFileSync(first!))) {
      const { density: own } = await source.frame(0);
      return { frames: paths, density: resultDensity(options, own) };
    }
    if (others.length > 0) return editFrames(readEach(paths, reading), source, request);
    if (isSequence(source, request)) return convertSequence(source, request);
    return convertFrame(source, await source.frame(options.frame ?? 0), request);
  }
}

/** Yields the frames that an earlier part wrote. */
async function* readEach(paths: readonly string[], reading: Omit<Parameters<typeof openSource>[0], 'path'>) {
  for (const path of paths) yield await decode(await (await openSource({ ...reading, path })).frame(0));
}

interface Decoded {
  readonly pixels: Pixels;
  readonly density: Frame['density'];
}

async function decode({ pipeline, depth, density }: Frame): Promise<Decoded> {
  return { pixels: await render(pipeline, depth).catch(damaged), density };
}

/** Whether a source has several frames or pages that belong together, all of which are needed. */
function isSequence({ kind, frames }: Source, { options, allFrames, limits }: ImageprocRequest): boolean {
  const sequence = (kind === 'gif' || kind === 'webp' || kind === 'tiff') && frames > 1;
  if (!sequence || !allFrames || options.frame !== undefined) return false;
  if (frames <= limits.pages) return true;
  const message = `The source has ${frames} frames. The maximum is ${limits.pages}.`;
  throw new ConversionError('SOURCE_TOO_LARGE', message);
}

async function convertSequence(source: Source, request: ImageprocRequest): Promise<Written | Frames> {
  const { operations, output, limits, options } = request;
  const { metadata, frames, kind } = source;
  if (kind === 'tiff') return editFrames(pagesOf(source), source, request);
  checkSourcePixels(metadata.width, metadata.height * frames, limits.pixels);
  const { delay = [100], loop = 0 } = metadata;
  const animation = { delay, loop };
  const [first, ...rest] = operations;
  const size = { ...metadata, hasAlpha: true };
  const checkSize = (one: Size) => {
    checkImageSize({ ...one, height: one.height * frames }, { maxPixels: limits.pixels });
    checkImageSize(one, { format: output?.format ?? 'png' });
  };
  if (output && has(output.format, 'animation') && rest.length === 0 && (!first || isResize(first))) {
    const roll = first
      ? resizePipeline(source.all(), size, first.value[1]!, checkSize).pipeline
      : source.all();
    const extras = extrasOf(request, source);
    const encoding = { options, density: undefined, extras, animation };
    const kept = extras ? keepExtras(roll, extras) : roll;
    writeFileSync(output.path, await encodePipeline(kept, output.format, encoding).catch(damaged));
    return { written: true };
  }
  return { ...(await editFrames(decodedFrames(source), source, request)), animation };
}

async function* pagesOf(source: Source): AsyncGenerator<Decoded> {
  for (let index = 0; index < source.frames; index += 1) yield decode(await source.frame(index));
}

/** Yields the frames of an animation, which are decoded together. */
async function* decodedFrames(source: Source): AsyncGenerator<Decoded> {
  const { samples, width, ...roll } = await render(source.all().ensureAlpha(), 8).catch(damaged);
  const height = roll.height / source.frames;
  const length = width * height * 4;
  for (let at = 0; at < samples.length; at += length) {
    const pixels = { samples: samples.subarray(at, at + length), width, height, channels: 4 } as const;
    yield { pixels: isOpaque(pixels) ? withoutAlpha(pixels) : pixels, density: undefined };
  }
}

/** Applies the operators to every frame, and writes each frame to a file for ImageMagick. */
async function editFrames(
  decoded: Iterable<Decoded> | AsyncIterable<Decoded>,
  source: Source,
  request: ImageprocRequest,
  operations = request.operations,
): Promise<Frames> {
  const { prefix, limits, options } = request;
  const extras = extrasOf(request, source);
  const frames: string[] = [];
  let total = 0;
  let density: Frame['density'];
  for await (const one of decoded) {
    const pixels = await edit(one.pixels, operations, request);
    density ??= one.density;
    total += pixels.width * pixels.height;
    if (total > limits.pixels) {
      const message = `The frames would have ${total} pixels. The maximum is ${limits.pixels} pixels in total.`;
      throw new ConversionError('RESULT_TOO_LARGE', message);
    }
    const path = `${prefix}${frames.length}.png`;
    writeFileSync(path, encodePng(pixels, extras ?? {}));
    frames.push(path);
  }
  const { bitsPerSample, space } = source.metadata;
  const isBilevel = bitsPerSample === 1 && space === 'b-w' && request.operations.length === 0;
  return { frames, density: resultDensity(options, density), isBilevel };
}

async function convertFrame(
  source: Source,
  frame: Frame,
  request: ImageprocRequest,
): Promise<Written | Frames> {
  const { limits, options, operations, output } = request;
  const [first, ...rest] = operations;
  // A resize as the first operator is done while decoding, so that a JPEG can be decoded at a smaller size.
  const resizes = first !== undefined && isResize(first);
  const checkSize = (size: Size) => checkImageSize(size, { maxPixels: limits.pixels });
  const decoded = resizes ? resizePipeline(frame.pipeline, frame, first.value[1]!, checkSize) : frame;
  const resized = { ...frame, pipeline: decoded.pipeline };
  const remaining = resizes ? rest : operations;
  if (!output) return editFrames([await decode(resized)], source, request, remaining);

  const { format, path } = output;
  const extras = extrasOf(request, source);
  const encoding = { options, density: resultDensity(options, frame.density), extras };
  // libvips would turn an AVIF by the orientation of its source, which no longer has a tag.
  const isPlain = !extras && !(format === 'avif' && frame.isTurned);
  if (remaining.length === 0 && isPipelineFormat(format) && isPlain) {
    checkImageSize(decoded, { format });
    const opaque = has(format, 'alpha')
      ? decoded.pipeline
      : flat(decoded.pipeline, matteOf(options), frame.isGray);
    writeFileSync(path, await encodePipeline(opaque, format, encoding).catch(damaged));
    return { written: true };
  }
  const { pixels } = await decode({ ...resized, depth: format === 'png' ? frame.depth : 8 });
  const edited = await edit(pixels, remaining, request);
  writeFileSync(path, await encode(edited, format, encoding));
  return { written: true };
}

/** Runs operators one after another, each on the result of the previous one. */
async function edit(
  pixels: Pixels,
  operations: readonly Operation[],
  { limits }: ImageprocRequest,
): Promise<Pixels> {
  let result = pixels;
  for (const operation of operations) {
    result = await applyOperation(result, operation, (size) =>
      checkImageSize(size, { maxPixels: limits.pixels }),
    );
  }
  return result;
}

function flat(pipeline: Frame['pipeline'], matte: string, isGray: boolean) {
  const [red, green, blue] = toColor(matte).map((channel) => channel * 255) as [number, number, number];
  const opaque = pipeline.flatten({ background: { r: red, g: green, b: blue } });
  return isGray && red === green && green === blue ? opaque.toColorspace('b-w') : opaque;
}
