import { writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { serveRequests } from '../engines/worker/serve.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkImageSize } from '../shared/formats.ts';
import type { Size } from '../shared/options/parameters.ts';
import { edit } from './edit.ts';
import { encode, encodePipeline, type PipelineFormat } from './encode/encode.ts';
import { encodeOptions, keepsMetadata, keepsProfile } from './encode/options.ts';
import { appendFrames, convertAnimation, convertPages, frameAppend, isSequence } from './frames.ts';
import { isResize, resizePipeline } from './operators/operators.ts';
import { toColor } from './options/color.ts';
import { operatorsOf } from './options/steps.ts';
import { render } from './pixels.ts';
import type { ImageFormat, ImageprocRequest } from './request.ts';
import { type Frame, readSource, type Source } from './source/decode.ts';
import { damaged } from './source/limits.ts';

sharp.concurrency(availableParallelism());
sharp.cache(false);
// Only those of libvips' readers whose formats are supported.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Svg', 'Heif'].map(
    (reader) => `VipsForeignLoad${reader}`,
  ),
});

await serveRequests<{ convert: ImageprocRequest }>({ convert: convertFile });

async function convertFile(request: ImageprocRequest): Promise<void> {
  const { path, limits, options } = request;
  const { autoOrient, density, frame } = options;
  const ignoreIcc = keepsProfile(request);
  const source = await readSource({ path, limits, options: { autoOrient, density, frame, ignoreIcc } });
  writeFileSync(request.output, await convert(source, request).catch(damaged));
}

async function convert(source: Source, request: ImageprocRequest): Promise<Buffer> {
  const { format, options } = request;
  const operators = operatorsOf(options.steps);
  if (isSequence(source, request)) {
    const at = frameAppend(operators);
    if (at >= 0) {
      const appended = await appendFrames(source, request, at);
      const edited = await edit(appended, operators.slice(at + 1), request);
      return encode(edited, format, encodeOptions(request, source, { density: undefined }));
    }
    if (format === 'tiff') return convertPages(source, request);
    if (format === 'gif' || format === 'webp') return convertAnimation(source, request, format);
  }
  return convertFrame(source, await source.frame(options.frame ?? 0), request);
}

async function convertFrame(source: Source, frame: Frame, request: ImageprocRequest): Promise<Buffer> {
  const { format, limits } = request;
  const operators = operatorsOf(request.options.steps);
  const [first, ...rest] = operators;
  // If the first operator is a resize, it is done while decoding, so that a JPEG can be decoded at a smaller size.
  const resizes = first !== undefined && isResize(first);
  const checkSize = (size: Size) => checkImageSize(size, { maxPixels: limits.pixels });
  const decoded = resizes ? resizePipeline(frame.pipeline, frame, first.value, { checkSize }) : frame;
  const options = encodeOptions(request, source, frame);

  if (
    operators.length === (resizes ? 1 : 0) &&
    isPipelineFormat(format) &&
    !keepsMetadata(request) &&
    !options.type
  ) {
    checkImageSize(decoded, { format });
    const pipeline =
      format === 'jpg' ? flat(decoded.pipeline, options.matte, frame.isGray) : decoded.pipeline;
    return encodePipeline(pipeline, format, options);
  }
  const depth = keepsDepth(format) ? frame.depth : 8;
  const pixels = await render(decoded.pipeline, depth).catch(damaged);
  return encode(await edit(pixels, resizes ? rest : operators, request), format, options);
}

function flat(pipeline: Frame['pipeline'], matte: string, isGray: boolean) {
  const [red, green, blue] = toColor(matte).map((channel) => channel * 255) as [number, number, number];
  const opaque = pipeline.flatten({ background: { r: red, g: green, b: blue } });
  return isGray && red === green && green === blue ? opaque.toColorspace('b-w') : opaque;
}

function isPipelineFormat(format: ImageFormat): format is PipelineFormat {
  return format === 'jpg' || format === 'webp' || format === 'avif';
}

/** Returns whether a format supports 16 bits per sample. */
function keepsDepth(format: ImageFormat): boolean {
  return format === 'png' || format === 'tiff';
}

process.on('unhandledRejection', (reason) => {
  if (!(reason instanceof ConversionError)) console.error(reason);
});
