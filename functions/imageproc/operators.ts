import { dither } from '../shared/dither.ts';
import { ConversionError } from '../shared/errors.ts';
import { applyGeometry, type Geometry } from '../shared/options/geometry.ts';
import type { Size } from '../shared/options/parameters.ts';
import { type Picture, reopen, settle } from './picture.ts';
import { edgePixels, intersect, placeRegion } from './placement.ts';
import type { Edges, Region, Softness, Turn } from './readers.ts';
import type { ImageprocOptions, ImageStep } from './request.ts';
import * as tones from './tones.ts';

/** What an operator knows beside its own value. */
export interface Canvas {
  readonly options: ImageprocOptions;
  /** @throws ConversionError `RESULT_TOO_LARGE` for an image of this size. */
  checkSize(size: Size): void;
}

type Value<Name extends ImageStep['operator']> = Extract<ImageStep, { operator: Name }>['value'];
type Operators = {
  readonly [Name in ImageStep['operator']]: (
    picture: Picture,
    value: Value<Name>,
    canvas: Canvas,
  ) => Picture | Promise<Picture>;
};

const OPERATORS: Operators = {
  resize: (picture, geometry, canvas) => resize(picture, geometry, canvas, 'lanczos3'),
  thumbnail: (picture, geometry, canvas) => resize(picture, geometry, canvas, 'lanczos3'),
  scale: (picture, geometry, canvas) => resize(picture, geometry, canvas, 'linear'),
  sample: (picture, geometry, canvas) => resize(picture, geometry, canvas, 'nearest'),
  crop,
  extent,
  border,
  shave,
  trim: (picture, on, { options }) =>
    on ? measure(picture.pipeline.trim({ threshold: options.fuzz * 255 })) : picture,
  rotate,
  flip: (picture, on) => (on ? { ...picture, pipeline: picture.pipeline.flip() } : picture),
  flop: (picture, on) => (on ? { ...picture, pipeline: picture.pipeline.flop() } : picture),
  colorspace: (picture, space) => (space === 'Gray' ? grey(picture) : picture),
  monochrome: (picture, on) => (on ? monochrome(picture) : picture),
  negate: (picture, on) =>
    on ? { ...picture, pipeline: picture.pipeline.negate({ alpha: false }) } : picture,
  blur: (picture, { sigma }) => blur(picture, sigma),
  sharpen: (picture, { sigma }) => sharpen(picture, { sigma, gain: 1, threshold: 0 }),
  unsharp: sharpen,
  normalize: async (picture, on) => (on ? reopen(tones.normalize(await settle(picture))) : picture),
  modulate: async (picture, percent) => reopen(tones.modulate(await settle(picture), percent)),
  gamma: async (picture, exponent) => reopen(tones.gamma(await settle(picture), exponent)),
  brightnessContrast: async (picture, percent) =>
    reopen(tones.brightnessContrast(await settle(picture), percent)),
  threshold: async (picture, limit) => reopen(tones.threshold(await settle(picture), limit)),
  tint: async (picture, [percent], { options }) =>
    reopen(await tones.tint(await settle(picture), percent, options.fill)),
  flatten: (picture, on, { options }) => (on ? flatten(picture, options.background) : picture),
  alpha: (picture, word, { options }) => {
    if (word === 'remove') return flatten(picture, options.background);
    const opaque = word === 'off' || word === 'opaque';
    return { ...picture, pipeline: opaque ? picture.pipeline.removeAlpha() : picture.pipeline.ensureAlpha() };
  },
};

/** Adds one operator to a picture that has none pending. */
export async function applyStep(picture: Picture, step: ImageStep, canvas: Canvas): Promise<Picture> {
  // The value belongs to the operator: `sequence` read them together, which the types cannot follow.
  const operator = OPERATORS[step.operator] as (
    picture: Picture,
    value: ImageStep['value'],
    canvas: Canvas,
  ) => Picture | Promise<Picture>;
  return operator(picture, step.value, canvas);
}

function resize(
  picture: Picture,
  geometry: Geometry,
  { checkSize }: Canvas,
  kernel: 'lanczos3' | 'linear' | 'nearest',
): Picture {
  const size = applyGeometry(geometry, picture);
  checkSize(size);
  if (size.width === picture.width && size.height === picture.height) return picture;
  return { ...size, pipeline: picture.pipeline.resize({ ...size, fit: 'fill', kernel }) };
}

function crop(picture: Picture, region: Region, { options }: Canvas): Picture {
  const part = intersect(placeRegion(region, picture, options.gravity), picture);
  if (!part) throw outside('-crop', 'must lie on the image', picture);
  return { width: part.width, height: part.height, pipeline: picture.pipeline.extract(part) };
}

/** Cuts what lies outside the canvas, then adds what the canvas has more. */
async function extent(picture: Picture, region: Region, { options, checkSize }: Canvas): Promise<Picture> {
  const { gravity, background } = options;
  const canvas = placeRegion(region, picture, gravity);
  checkSize(canvas);
  const part = intersect(canvas, picture);
  if (!part) throw outside('-extent', 'must leave some of the image', picture);
  // What is transparent shows the background, as in ImageMagick.
  const cut = reopen(await settle({ pipeline: flatten(picture, background).pipeline.extract(part) }));
  const left = part.left - canvas.left;
  const top = part.top - canvas.top;
  const right = canvas.width - part.width - left;
  const bottom = canvas.height - part.height - top;
  const { width, height } = canvas;
  return { width, height, pipeline: cut.pipeline.extend({ left, top, right, bottom, background }) };
}

async function border(picture: Picture, edges: Edges, { options, checkSize }: Canvas): Promise<Picture> {
  const { x, y } = edgePixels(edges, picture);
  const background = options.borderColour;
  const size = { width: picture.width + 2 * x, height: picture.height + 2 * y };
  checkSize(size);
  const filled = reopen(await settle(flatten(picture, background)));
  return { ...size, pipeline: filled.pipeline.extend({ left: x, right: x, top: y, bottom: y, background }) };
}

function shave(picture: Picture, edges: Edges): Picture {
  const { x, y } = edgePixels(edges, picture);
  const width = picture.width - 2 * x;
  const height = picture.height - 2 * y;
  if (width < 1 || height < 1) throw outside('-shave', 'must leave some of the image', picture);
  return { width, height, pipeline: picture.pipeline.extract({ left: x, top: y, width, height }) };
}

function rotate(picture: Picture, { degrees, only }: Turn, { options, checkSize }: Canvas): Promise<Picture> {
  const { width, height } = picture;
  if ((only === 'wide' && width <= height) || (only === 'tall' && width >= height))
    return measure(picture.pipeline);
  const radians = (degrees * Math.PI) / 180;
  const [cosine, sine] = [Math.abs(Math.cos(radians)), Math.abs(Math.sin(radians))];
  checkSize({
    width: Math.ceil(width * cosine + height * sine),
    height: Math.ceil(width * sine + height * cosine),
  });
  return measure(picture.pipeline.rotate(degrees % 360, { background: options.background }));
}

function grey(picture: Picture): Picture {
  const row = [...tones.LUMA] as [number, number, number];
  return { ...picture, pipeline: picture.pipeline.recomb([row, row, row]) };
}

async function monochrome(picture: Picture): Promise<Picture> {
  const pixels = await settle(grey(picture));
  const shades = Uint8Array.from(
    { length: pixels.width * pixels.height },
    (_, at) => pixels.bytes[at * pixels.channels]!,
  );
  dither(shades, pixels.width);
  const bytes = Buffer.from(pixels.bytes);
  for (const [at, shade] of shades.entries())
    bytes.fill(shade, at * pixels.channels, at * pixels.channels + 3);
  return reopen({ ...pixels, bytes });
}

function blur(picture: Picture, sigma: number): Picture {
  // Below 0.3 nothing would change, and sharp refuses.
  return sigma < 0.3 ? picture : { ...picture, pipeline: picture.pipeline.blur(sigma) };
}

async function sharpen(picture: Picture, { sigma, gain, threshold }: Softness): Promise<Picture> {
  const pixels = await settle(picture);
  const soft = await settle(blur(reopen(pixels), sigma));
  return reopen(tones.unsharp(pixels, soft, gain, threshold));
}

function flatten(picture: Picture, background: string): Picture {
  // A transparent background leaves the image as it is.
  if (background.endsWith('00') && background.length === 9) return picture;
  return { ...picture, pipeline: picture.pipeline.flatten({ background }) };
}

async function measure(pipeline: Picture['pipeline']): Promise<Picture> {
  return reopen(await settle({ pipeline }));
}

function outside(name: string, rule: string, { width, height }: Size): ConversionError {
  return new ConversionError(
    'BAD_PARAMETER',
    `Parameter '${name}' ${rule}, which is ${width}x${height} pixels.`,
  );
}
