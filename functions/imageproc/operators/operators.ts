import type { Sharp } from 'sharp';
import { applyGeometry, type Geometry } from '../../shared/options/geometry.ts';
import type { Size } from '../../shared/options/parameters.ts';
import { toColor } from '../options/color.ts';
import type { Placement } from '../options/overlay.ts';
import type { Softness } from '../options/readers.ts';
import type { OperatorStep } from '../options/steps.ts';
import { apply, type Pixels, withAlpha, withoutAlpha } from '../pixels.ts';
import { blend, flatten } from './blend.ts';
import { append, border, crop, extent, rotate, roundCorners, shave, trim } from './canvas.ts';
import type { Context } from './context.ts';
import { makeTransparent } from './fuzz.ts';
import { monochrome, quantize } from './palette.ts';
import { place } from './placement.ts';
import { sample, scale } from './resample.ts';
import { autoLevel, contrastStretch, normalize, posterize, sepia } from './stretch.ts';
import { annotate } from './text.ts';
import * as tones from './tones.ts';

type Value<Name extends OperatorStep['operator']> = Extract<OperatorStep, { operator: Name }>['value'];
type Operate<V> = (pixels: Pixels, value: V, context: Context) => Pixels | Promise<Pixels>;
type Operators = { readonly [Name in OperatorStep['operator']]: Operate<Value<Name>> };

/** Operators that sharp can run while it decodes. */
const RESIZES = ['resize', 'thumbnail'] as const;
export type ResizeStep = Extract<OperatorStep, { operator: (typeof RESIZES)[number] }>;

const OPERATORS: Operators = {
  resize,
  thumbnail: resize,
  scale: (pixels, geometry, context) => scale(pixels, sizeOf(pixels, geometry, context)),
  sample: (pixels, geometry, context) => sample(pixels, sizeOf(pixels, geometry, context)),
  crop,
  extent,
  border,
  shave,
  trim: (pixels, on, context) => (on ? trim(pixels, context) : pixels),
  rotate,
  flip: (pixels, on) => (on ? apply(pixels, (pipeline) => pipeline.flip()) : pixels),
  flop: (pixels, on) => (on ? apply(pixels, (pipeline) => pipeline.flop()) : pixels),
  append: (pixels, url, context) => appendUrl(pixels, url, 'down', context),
  appendRight: (pixels, url, context) => appendUrl(pixels, url, 'right', context),
  composite,
  annotate,
  roundedCorners: roundCorners,
  transparent: (pixels, color, { settings }) => makeTransparent(pixels, toColor(color), settings.fuzz),
  colorspace,
  monochrome: (pixels, on) => (on ? monochrome(pixels) : pixels),
  colors: (pixels, count, { settings }) => quantize(pixels, count, settings.dither),
  posterize: (pixels, levels) => posterize(pixels, levels),
  negate: (pixels, on) => (on ? tones.level(pixels, { black: 1, white: 0, gamma: 1 }) : pixels),
  blur: (pixels, { sigma }) => blur(pixels, sigma),
  sharpen: (pixels, { sigma }) => sharpen(pixels, { sigma, gain: sharpenGain(sigma), threshold: 0 }),
  unsharp: sharpen,
  normalize: (pixels, on) => (on ? normalize(pixels) : pixels),
  autoLevel: (pixels, on) => (on ? autoLevel(pixels) : pixels),
  contrastStretch: (pixels, shares) => contrastStretch(pixels, shares),
  level: (pixels, levels) => tones.level(pixels, levels),
  sepiaTone: (pixels, threshold) => sepia(pixels, threshold),
  modulate: (pixels, percent) => tones.modulate(pixels, percent),
  gamma: (pixels, exponents) => tones.gamma(pixels, exponents),
  brightnessContrast: (pixels, percent) => tones.brightnessContrast(pixels, percent),
  threshold: (pixels, limit) => tones.threshold(pixels, limit),
  tint: (pixels, [percent], { settings }) => tones.tint(pixels, percent, settings.fill),
  flatten: (pixels, on, { settings }) => (on ? flatten(pixels, toColor(settings.background)) : pixels),
  alpha: (pixels, word, { settings }) => {
    if (word === 'remove') return flatten(pixels, toColor(settings.background));
    return word === 'off' || word === 'opaque' ? withoutAlpha(pixels) : withAlpha(pixels);
  },
};

/** Runs one operator. */
export async function applyOperator(pixels: Pixels, step: OperatorStep, context: Context): Promise<Pixels> {
  // A step's value has the type of its operator, which the compiler cannot follow through the table.
  const operate = OPERATORS[step.operator] as Operate<OperatorStep['value']>;
  return operate(pixels, step.value, context);
}

/** Returns whether sharp can run a step while it decodes. */
export function isResize(step: OperatorStep): step is ResizeStep {
  return (RESIZES as readonly string[]).includes(step.operator);
}

/** Adds a resize to a pipeline and returns the resulting size. */
export function resizePipeline(
  pipeline: Sharp,
  source: Size & { readonly hasAlpha: boolean },
  geometry: Geometry,
  context: Pick<Context, 'checkSize'>,
) {
  const size = sizeOf(source, geometry, context);
  if (size.width === source.width && size.height === source.height) return { ...size, pipeline };
  // The filters that ImageMagick uses when it shrinks. Larger images always get libvips' bicubic filter.
  const kernel = source.hasAlpha ? 'mitchell' : 'lanczos3';
  return { ...size, pipeline: pipeline.resize({ ...size, fit: 'fill', kernel }) };
}

function resize(
  pixels: Pixels,
  geometry: Geometry,
  context: Pick<Context, 'checkSize'>,
): Promise<Pixels> | Pixels {
  const source = { ...pixels, hasAlpha: pixels.channels === 4 };
  const { width, height } = sizeOf(pixels, geometry, context);
  if (width === pixels.width && height === pixels.height) return pixels;
  return apply(pixels, (pipeline) => resizePipeline(pipeline, source, geometry, context).pipeline);
}

function sizeOf(source: Size, geometry: Geometry, { checkSize }: Pick<Context, 'checkSize'>): Size {
  const size = applyGeometry(geometry, source);
  checkSize(size);
  return size;
}

function colorspace(pixels: Pixels, space: Value<'colorspace'>): Pixels {
  if (space === 'Gray') return tones.gray(pixels);
  return space === 'RGB' ? tones.toLinear(pixels) : pixels;
}

function blur(pixels: Pixels, sigma: number): Promise<Pixels> | Pixels {
  // sharp rejects smaller values, which would change nothing.
  if (sigma < 0.3) return pixels;
  // For wider blurs, weights that libvips rounds to integers are 10 times faster and nearly the same. By default it also
  // cuts off all weights below 0.2 of the largest, which makes an image much less soft.
  const weights =
    sigma <= 1 ? ({ precision: 'float', minAmplitude: 0.005 } as const) : { minAmplitude: 0.02 };
  return apply(pixels, (pipeline) => pipeline.blur({ sigma, ...weights }));
}

async function sharpen(pixels: Pixels, { sigma, gain, threshold }: Softness): Promise<Pixels> {
  return tones.unsharp(pixels, await blur(pixels, sigma), gain, threshold);
}

/** Returns how much ImageMagick's `-sharpen` adds. It excludes the pixel itself from the blur. */
function sharpenGain(sigma: number): number {
  return 1 / (1 + 1 / (2 * Math.PI * sigma ** 2));
}

async function appendUrl(pixels: Pixels, url: string, direction: 'down' | 'right', context: Context) {
  // Without a URL, the frames have already been joined.
  return url === '' ? pixels : append([pixels, await context.load(url)], direction, context);
}

async function composite(pixels: Pixels, url: string, context: Context): Promise<Pixels> {
  const { geometry, gravity, compose, dissolve } = context.settings;
  const image = await context.load(url);
  const overlay = geometry ? await resizeOverlay(image, geometry, context) : image;
  const at = place(overlay, geometry ?? { x: 0, y: 0 }, pixels, gravity);
  return blend(pixels, overlay, at, { compose, opacity: dissolve / 100 });
}

function resizeOverlay(image: Pixels, { width, height, percent, exact }: Placement, context: Context) {
  if (width === undefined && height === undefined && percent === undefined) return image;
  const scaling = { exact, onlyShrink: false, onlyEnlarge: false, fill: false };
  const value: Geometry =
    percent === undefined
      ? { ...(width && { width }), ...(height && { height }), ...scaling }
      : { percent: { x: percent, y: percent }, ...scaling };
  return resize(image, value, context);
}
