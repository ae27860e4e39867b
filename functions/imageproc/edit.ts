import { checkImageSize } from '../shared/formats.ts';
import type { Context } from './operators/context.ts';
import { applyOperator } from './operators/operators.ts';
import { fromLinear } from './operators/tones.ts';
import { type OperatorStep, settingsAt } from './options/steps.ts';
import { type Pixels, widen } from './pixels.ts';
import type { ImageprocRequest } from './request.ts';
import { readPixels } from './source/decode.ts';

/** Runs operators one after the other, each on the result of the previous one. */
export async function edit(
  source: Pixels,
  operators: readonly OperatorStep[],
  request: ImageprocRequest,
): Promise<Pixels> {
  let pixels = source;
  let linear = false;
  for (const [index, step] of operators.entries()) {
    if (step.operator === 'colorspace' && step.value !== 'Gray') {
      const toLinear = step.value === 'RGB';
      if (toLinear === linear) continue;
      // Dark tones need more than 8 bits to survive the conversion and back.
      const returns = operators.slice(index + 1).some(({ operator }) => operator === 'colorspace');
      if (toLinear && returns) pixels = widen(pixels);
      pixels = toLinear ? await applyOperator(pixels, step, contextOf(request, step)) : fromLinear(pixels);
      linear = toLinear;
      continue;
    }
    pixels = await applyOperator(pixels, step, contextOf(request, step));
  }
  return pixels;
}

/** Returns what an operator needs besides the image. */
export function contextOf(request: ImageprocRequest, step?: OperatorStep): Context {
  const { options, limits, images } = request;
  return {
    settings: settingsAt(options.steps, step),
    checkSize: (size) => checkImageSize(size, { maxPixels: limits.pixels }),
    load: (url) => {
      const known = decoded.get(request) ?? new Map<string, Promise<Pixels>>();
      decoded.set(request, known);
      const pixels =
        known.get(url) ?? readPixels({ ...request, path: images[url]!, options: OVERLAY_OPTIONS });
      known.set(url, pixels);
      return pixels;
    },
  };
}

/** Overlays by their URL, decoded once for all frames of a request. */
const decoded = new WeakMap<ImageprocRequest, Map<string, Promise<Pixels>>>();

/** How images of `-composite` and `-append` are read. */
const OVERLAY_OPTIONS = { autoOrient: true, frame: 0 } as const;
