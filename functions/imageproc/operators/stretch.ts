import { copy, mapColors, maxSample, type Pixels } from '../pixels.ts';
import { level, luma } from './tones.ts';

/** Steps of a brightness histogram. ImageMagick uses 16 bits. */
const STEPS = 65_536;

/** Stretches the brightness so that the given shares of all pixels become black and white. */
export function contrastStretch(pixels: Pixels, [black, white]: readonly [number, number]): Pixels {
  const { samples, channels } = pixels;
  const max = maxSample(pixels);
  const counts = new Uint32Array(STEPS);
  for (let at = 0; at < samples.length; at += channels) {
    counts[Math.round((luma(samples, at) / max) * (STEPS - 1))]! += 1;
  }
  const total = samples.length / channels;
  const low = crossing(counts, total * black);
  const high = STEPS - 1 - crossing(counts.toReversed(), total * white);
  if (high <= low) return pixels;
  return level(pixels, { black: low / (STEPS - 1), white: high / (STEPS - 1), gamma: 1 });
}

/** Stretches the contrast with the shares that ImageMagick uses: 0.15 % black, 0.05 % white. */
export function normalize(pixels: Pixels): Pixels {
  return contrastStretch(pixels, [0.0015, 0.0005]);
}

/** Stretches the range of all samples together from black to white. */
export function autoLevel(pixels: Pixels): Pixels {
  const { samples, channels } = pixels;
  const max = maxSample(pixels);
  let [low, high] = [max, 0];
  for (let start = 0; start < samples.length; start += channels) {
    for (let at = start; at < start + 3; at += 1) {
      if (samples[at]! < low) low = samples[at]!;
      if (samples[at]! > high) high = samples[at]!;
    }
  }
  return high > low ? level(pixels, { black: low / max, white: high / max, gamma: 1 }) : pixels;
}

/** Rounds each channel to `levels` values. */
export function posterize(pixels: Pixels, levels: number): Pixels {
  return mapColors(pixels, (value) => Math.round(value * (levels - 1)) / (levels - 1));
}

/** Applies a sepia tone as ImageMagick does: sepia by brightness, then more contrast. */
export function sepia(pixels: Pixels, threshold: number): Pixels {
  const toned = copy(pixels);
  const { samples, channels } = toned;
  const max = maxSample(pixels);
  for (let at = 0; at < samples.length; at += channels) {
    const light = luma(samples, at) / max;
    const least = threshold / 7;
    samples[at] = Math.round(Math.min(1, light > threshold ? 1 : light + 1 - threshold) * max);
    const green = light > (7 * threshold) / 6 ? 1 : light + 1 - (7 * threshold) / 6;
    samples[at + 1] = Math.round(Math.min(1, Math.max(green, least)) * max);
    const blue = light < threshold / 6 ? 0 : light - threshold / 6;
    samples[at + 2] = Math.round(Math.min(1, Math.max(blue, least)) * max);
  }
  return sigmoidalContrast(normalize(toned));
}

/** Increases the contrast of the HSB brightness along a sine curve. */
function sigmoidalContrast(pixels: Pixels): Pixels {
  const result = copy(pixels);
  const { samples, channels } = result;
  const max = maxSample(pixels);
  for (let at = 0; at < samples.length; at += channels) {
    const brightness = Math.max(samples[at]!, samples[at + 1]!, samples[at + 2]!) / max;
    if (brightness === 0) continue;
    const wanted = brightness + 0.5 * (0.5 * (Math.sin(Math.PI * (brightness - 0.5)) + 1) - brightness);
    // Hue and saturation stay the same when all channels are scaled equally.
    for (let channel = at; channel < at + 3; channel += 1) {
      samples[channel] = Math.min(max, Math.round((samples[channel]! * wanted) / brightness));
    }
  }
  return result;
}

/** Returns the first step at which more than `share` pixels were counted. */
function crossing(counts: Uint32Array, share: number): number {
  let sum = 0;
  const found = counts.findIndex((count) => {
    sum += count;
    return sum > share;
  });
  return Math.max(0, found);
}
