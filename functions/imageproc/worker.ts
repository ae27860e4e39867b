import { availableParallelism } from 'node:os';
import sharp from 'sharp';
import { ConversionError } from '../shared/errors.ts';
import { serveRequests } from '../shared/worker/serve.ts';
import { animate, isAnimated } from './animation.ts';
import { damaged, readSource } from './decode.ts';
import { checkPixels, checkSides, encode } from './encode.ts';
import { applyStep, type Canvas } from './operators.ts';
import { type Picture, reopen, settle } from './picture.ts';
import type { ImageprocRequest, ImageStep } from './request.ts';

sharp.concurrency(availableParallelism());
sharp.cache(false);
// Of libvips' many readers only those of the formats we take.
sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: ['Jpeg', 'Png', 'Webp', 'Nsgif', 'Tiff', 'Svg', 'Heif'].map(
    (reader) => `VipsForeignLoad${reader}`,
  ),
});

const RESIZES: ReadonlySet<ImageStep['operator']> = new Set(['resize', 'thumbnail', 'scale', 'sample']);

await serveRequests<ImageprocRequest>(async (request) => {
  const { format, options, limits, output } = request;
  const source = await readSource(request);
  const canvas: Canvas = { options, checkSize: (size) => checkPixels(size, limits.pixels) };
  const edit = (picture: Picture) => editPicture(picture, options.steps, canvas);

  if (isAnimated(source, request)) {
    const { roll, delay, loop, frame } = await animate(source, request, edit);
    checkSides(frame, format);
    await encode(roll, format, options, { delay, loop }).toFile(output);
    return {};
  }
  const edited = await edit(source.picture).catch(damaged);
  checkSides(edited, format);
  await encode(edited.pipeline, format, options).toFile(output).catch(damaged);
  return {};
});

/**
 * Does one operator after the other, each on the settled pixels of the one before. A single resize stays pending: decoding,
 * resizing and encoding are then one pass, which lets JPEG be decoded small.
 */
async function editPicture(source: Picture, steps: readonly ImageStep[], canvas: Canvas): Promise<Picture> {
  let picture = source;
  let pending = false;
  for (const step of steps) {
    if (pending) picture = reopen(await settle(picture));
    picture = await applyStep(picture, step, canvas);
    pending = true;
  }
  const fusible = steps.length === 0 || (steps.length === 1 && RESIZES.has(steps[0]!.operator));
  return fusible ? picture : reopen(await settle(picture));
}

process.on('unhandledRejection', (reason) => {
  if (!(reason instanceof ConversionError)) console.error(reason);
});
