import { ConversionError } from '../../shared/errors.ts';
import type { Size } from '../../shared/options/parameters.ts';
import { toColor } from '../options/color.ts';
import type { Edges, Region, Turn } from '../options/readers.ts';
import { apply, maxSample, type Pixels, withAlpha } from '../pixels.ts';
import { blend, fill, flatten, paste } from './blend.ts';
import type { Context } from './context.ts';
import { contentBox } from './fuzz.ts';
import {
  canvasSize,
  edgePixels,
  intersect,
  place,
  placeRegion,
  type Rectangle,
  regionSize,
} from './placement.ts';

/** Cuts out a region. */
export async function crop(pixels: Pixels, region: Region, { settings }: Context): Promise<Pixels> {
  const { gravity } = settings;
  if (gravity === 'Attention' || gravity === 'Entropy') {
    return cropSmart(pixels, regionSize(region, pixels), gravity);
  }
  const part = intersect(placeRegion(region, pixels, gravity), pixels);
  if (!part) throw outside('-crop', 'must overlap the image', pixels);
  return extract(pixels, part);
}

/** Cuts out the most interesting part of a given size. */
async function cropSmart(pixels: Pixels, size: Size, gravity: 'Attention' | 'Entropy'): Promise<Pixels> {
  const width = Math.min(size.width, pixels.width);
  const height = Math.min(size.height, pixels.height);
  if (width === pixels.width && height === pixels.height) return pixels;
  // sharp's `cover` scales the image to the box before it crops, so one axis must keep its full length. The crop of
  // the other axis comes from a second pass.
  const strategy = gravity === 'Attention' ? 'attention' : 'entropy';
  const cut = (image: Pixels, side: Size) =>
    side.width === image.width && side.height === image.height
      ? image
      : apply(image, (pipeline) => pipeline.resize({ ...side, fit: 'cover', position: strategy }));
  const narrow = await cut(pixels, { width, height: pixels.height });
  return cut(narrow, { width, height });
}

/** Sets the canvas: cuts off what is outside and fills new areas with the background. */
export async function extent(pixels: Pixels, region: Region, context: Context): Promise<Pixels> {
  const { gravity, background } = context.settings;
  const size = canvasSize(region, pixels);
  context.checkSize(size);
  const smart = gravity === 'Attention' || gravity === 'Entropy';
  const image = smart ? await cropSmart(pixels, size, gravity) : pixels;
  const canvas = place(size, region, image, smart ? 'Center' : gravity);
  const part = intersect(canvas, image);
  if (!part) throw outside('-extent', 'must overlap the image', pixels);

  const color = toColor(background);
  // As in ImageMagick, transparent parts show the background.
  const flat = flatten(extract(image, part), color);
  const channels = flat.channels === 4 || color[3] < 1 ? 4 : 3;
  const result = fill(pixels, canvas, channels, color);
  const at = { left: part.left - canvas.left, top: part.top - canvas.top };
  paste(result, channels === 4 ? withAlpha(flat) : flat, at);
  return result;
}

/** Adds edges in the border color. Transparent parts show that color too. */
export function border(pixels: Pixels, edges: Edges, { settings, checkSize }: Context): Pixels {
  const { x, y } = edgePixels(edges, pixels);
  const size = { width: pixels.width + 2 * x, height: pixels.height + 2 * y };
  checkSize(size);
  const color = toColor(settings.borderColor);
  const flat = flatten(pixels, color);
  const channels = flat.channels === 4 || color[3] < 1 ? 4 : 3;
  const result = fill(pixels, size, channels, color);
  paste(result, channels === 4 ? withAlpha(flat) : flat, { left: x, top: y });
  return result;
}

/** Cuts off edges. */
export function shave(pixels: Pixels, edges: Edges): Pixels {
  const { x, y } = edgePixels(edges, pixels);
  const width = pixels.width - 2 * x;
  const height = pixels.height - 2 * y;
  if (width < 1 || height < 1) throw outside('-shave', 'must leave part of the image', pixels);
  return extract(pixels, { left: x, top: y, width, height });
}

/** Cuts off edges of a single color. An image of a single color stays unchanged. */
export function trim(pixels: Pixels, { settings }: Context): Pixels {
  const box = contentBox(pixels, settings.fuzz);
  return box ? extract(pixels, box) : pixels;
}

/** Rotates the image. Corners get the background color. */
export async function rotate(pixels: Pixels, { degrees, only }: Turn, context: Context): Promise<Pixels> {
  const { width, height } = pixels;
  if ((only === 'wide' && width <= height) || (only === 'tall' && width >= height)) return pixels;
  const angle = ((degrees % 360) + 360) % 360;
  if (angle % 90 === 0) return apply(pixels, (pipeline) => pipeline.rotate(angle));

  const radians = (angle * Math.PI) / 180;
  const [cosine, sine] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  context.checkSize({
    width: Math.ceil(width * cosine + height * sine),
    height: Math.ceil(width * sine + height * cosine),
  });
  const { background } = context.settings;
  const [red, green, blue, alpha] = toColor(background);
  const color = { r: red * 255, g: green * 255, b: blue * 255, alpha };
  return apply(pixels, (pipeline) => pipeline.rotate(angle, { background: color }));
}

/** Rounds the corners: what is outside becomes transparent. */
export async function roundCorners(pixels: Pixels, radii: Edges): Promise<Pixels> {
  const { x, y } = edgePixels(radii, pixels);
  const result = withAlpha(pixels);
  const { width, height } = pixels;
  const rx = Math.min(x, width / 2);
  const ry = Math.min(y, height / 2);
  if (rx < 0.5 || ry < 0.5) return result;
  const samples = result.samples.slice();
  const max = maxSample(pixels);
  for (let row = 0; row < Math.ceil(ry); row += 1) {
    for (let column = 0; column < Math.ceil(rx); column += 1) {
      const covered = coverage(column, row, rx, ry);
      if (covered === 1) continue;
      for (const [left, top] of [
        [column, row],
        [width - 1 - column, row],
        [column, height - 1 - row],
        [width - 1 - column, height - 1 - row],
      ] as const) {
        const at = (top * width + left) * 4 + 3;
        samples[at] = Math.round(Math.min(samples[at]!, covered * max));
      }
    }
  }
  return { ...result, samples };
}

/** Returns how much of a pixel is inside an ellipse around (rx, ry), sampled at 4 by 4 points. */
function coverage(column: number, row: number, rx: number, ry: number): number {
  let inside = 0;
  for (let point = 0; point < 16; point += 1) {
    const x = column + ((point % 4) + 0.5) / 4;
    const y = row + (Math.floor(point / 4) + 0.5) / 4;
    const beyond = x < rx && y < ry && ((rx - x) / rx) ** 2 + ((ry - y) / ry) ** 2 > 1;
    if (!beyond) inside += 1;
  }
  return inside / 16;
}

/** Stacks images vertically, or places them side by side. Gaps show the background. */
export function append(images: readonly Pixels[], direction: 'down' | 'right', context: Context): Pixels {
  const { background, gravity } = context.settings;
  const sum = (side: 'width' | 'height') => images.reduce((total, image) => total + image[side], 0);
  const most = (side: 'width' | 'height') => Math.max(...images.map((image) => image[side]));
  const down = direction === 'down';
  const size = down
    ? { width: most('width'), height: sum('height') }
    : { width: sum('width'), height: most('height') };
  context.checkSize(size);

  const color = toColor(background);
  const clear = color[3] < 1 || images.some(({ channels }) => channels === 4);
  const deepest = images.find((image) => image.samples instanceof Uint16Array) ?? images[0]!;
  let canvas = fill(deepest, size, clear ? 4 : 3, color);
  let at = 0;
  for (const image of images) {
    const slot = down
      ? { width: size.width, height: image.height }
      : { width: image.width, height: size.height };
    const { left, top } = place(image, { x: 0, y: 0 }, slot, gravity);
    canvas = blend(canvas, image, down ? { left, top: at } : { left: at, top }, { compose: 'Over' });
    at += down ? image.height : image.width;
  }
  return canvas;
}

/** Copies a rectangle out of the image. */
export function extract(pixels: Pixels, { left, top, width, height }: Rectangle): Pixels {
  const { samples, channels } = pixels;
  if (width === pixels.width && height === pixels.height) return pixels;
  const part = samples.slice(0, width * height * channels);
  for (let y = 0; y < height; y += 1) {
    const from = ((y + top) * pixels.width + left) * channels;
    part.set(samples.subarray(from, from + width * channels), y * width * channels);
  }
  return { samples: part, width, height, channels };
}

function outside(name: string, rule: string, { width, height }: Size): ConversionError {
  return new ConversionError(
    'BAD_PARAMETER',
    `Parameter '${name}' ${rule}, which is ${width}x${height} pixels.`,
  );
}
