import type { Sharp } from 'sharp';
import { ConversionError } from '../../shared/errors.ts';
import { applyGeometry, parseGeometry, type Size } from '../../shared/options/geometry.ts';
import type { Operation, Settings } from '../options/steps.ts';
import { type Color, toColor } from '../options/values.ts';
import { apply, type Pixels } from '../pixels.ts';
import { isSharpOperator, isSmart, type SharpOperator, type SmartGravity } from '../plan.ts';
import {
  canvasSize,
  edgePixels,
  intersect,
  parseEdges,
  parseRegion,
  place,
  type Rectangle,
  regionSize,
} from './placement.ts';
import { annotate } from './text.ts';

/** Checks the size of an image before it is created. @throws ConversionError `RESULT_TOO_LARGE` */
type CheckSize = (size: Size) => void;

type Operate = (
  pixels: Pixels,
  value: string,
  settings: Settings,
  checkSize: CheckSize,
) => Promise<Pixels> | Pixels;

/** The operators that sharp runs. The value is the argument of the operator. */
const OPERATORS: Readonly<Record<Exclude<SharpOperator, '-annotate'>, Operate>> = {
  '-resize': resize,
  '-thumbnail': resize,
  '-crop': crop,
  '-extent': extent,
  '-border': border,
  '-shave': shave,
  '-rotate': (pixels, value) => apply(pixels, (pipeline) => pipeline.rotate(Number(value))),
  '-flip': (pixels) => apply(pixels, (pipeline) => pipeline.flip()),
  '-flop': (pixels) => apply(pixels, (pipeline) => pipeline.flop()),
  '-negate': (pixels) => apply(pixels, (pipeline) => pipeline.negate({ alpha: false })),
  '-colorspace': (pixels, value) => (value === 'Gray' ? gray(pixels) : pixels),
  '-flatten': (pixels, _, { '-background': background = 'white' }) => flatten(pixels, background),
  '-alpha': (pixels, value, { '-background': background = 'white' }) =>
    value === 'remove' ? flatten(pixels, background) : apply(pixels, (pipeline) => pipeline.removeAlpha()),
  '-rounded-corners': roundedCorners,
};

/** Runs one operator with sharp. */
export async function applyOperation(
  pixels: Pixels,
  { operator, value, settings }: Operation,
  checkSize: CheckSize,
): Promise<Pixels> {
  if (!isSharpOperator(operator)) throw new Error(`sharp does not run ${operator}.`);
  if (operator === '-annotate') return annotate(pixels, value, settings);
  return OPERATORS[operator](pixels, value[1] ?? '', settings, checkSize);
}

/** Whether sharp can run an operator while it decodes. */
export function isResize({ operator }: Operation): boolean {
  return operator === '-resize' || operator === '-thumbnail';
}

/** Adds a resize to a pipeline and returns the resulting size. */
export function resizePipeline(
  pipeline: Sharp,
  source: Size & { readonly hasAlpha: boolean; readonly hasPalette?: boolean },
  value: string,
  checkSize: CheckSize,
) {
  const size = applyGeometry(parseGeometry(value)!, source);
  checkSize(size);
  if (size.width === source.width && size.height === source.height) return { ...size, pipeline };
  // The filters that ImageMagick uses for shrinking. Enlarging always uses libvips' bicubic filter.
  const kernel = source.hasAlpha || source.hasPalette ? 'mitchell' : 'lanczos3';
  return { ...size, pipeline: pipeline.resize({ ...size, fit: 'fill', kernel }) };
}

function resize(pixels: Pixels, value: string, _: Settings, checkSize: CheckSize) {
  const source = { ...pixels, hasAlpha: pixels.channels === 4 };
  return apply(pixels, (pipeline) => resizePipeline(pipeline, source, value, checkSize).pipeline);
}

function crop(pixels: Pixels, value: string, { '-gravity': gravity }: Settings) {
  const region = parseRegion(value);
  const size = regionSize(region, pixels);
  if (isSmart(gravity)) return cropSmart(pixels, size, gravity);
  const part = intersect(place(size, region, pixels, gravity), pixels);
  if (!part) throw outsideError('-crop', pixels);
  return extract(pixels, part);
}

/** Crops the most interesting part of a given size. */
async function cropSmart(pixels: Pixels, size: Size, gravity: SmartGravity): Promise<Pixels> {
  const width = Math.min(size.width, pixels.width);
  const height = Math.min(size.height, pixels.height);
  // sharp's `cover` scales the image to the box before it crops, so one axis must keep its full length. The other
  // axis is cropped in a second pass.
  const position = gravity === 'Attention' ? 'attention' : 'entropy';
  const cut = (image: Pixels, side: Size) =>
    side.width === image.width && side.height === image.height
      ? image
      : apply(image, (pipeline) => pipeline.resize({ ...side, fit: 'cover', position }));
  return cut(await cut(pixels, { width, height: pixels.height }), { width, height });
}

/** Sets the canvas: crops the image to it, and fills new areas with the background. */
async function extent(pixels: Pixels, value: string, settings: Settings, checkSize: CheckSize) {
  const { '-gravity': gravity, '-background': background = 'white' } = settings;
  const region = parseRegion(value);
  const size = canvasSize(region, pixels);
  checkSize(size);
  const image = isSmart(gravity) ? await cropSmart(pixels, size, gravity) : pixels;
  const canvas = place(size, region, image, isSmart(gravity) ? 'Center' : gravity);
  const part = intersect(canvas, image);
  if (!part) throw outsideError('-extent', pixels);
  // As in ImageMagick, transparent parts show the background.
  const flat = await flatten(await extract(image, part), background);
  const [left, top] = [part.left - canvas.left, part.top - canvas.top];
  const right = canvas.width - left - part.width;
  return extend(flat, { left, top, right, bottom: canvas.height - top - part.height }, background);
}

/** Adds edges in the border color, which also shows through transparent parts. */
async function border(pixels: Pixels, value: string, settings: Settings, checkSize: CheckSize) {
  const { '-bordercolor': borderColor = '#dfdfdf' } = settings;
  const { x, y } = edgePixels(parseEdges(value), pixels);
  checkSize({ width: pixels.width + 2 * x, height: pixels.height + 2 * y });
  return extend(await flatten(pixels, borderColor), { left: x, top: y, right: x, bottom: y }, borderColor);
}

/** Cuts off edges. */
function shave(pixels: Pixels, value: string) {
  const { x, y } = edgePixels(parseEdges(value), pixels);
  const [width, height] = [pixels.width - 2 * x, pixels.height - 2 * y];
  if (width < 1 || height < 1) throw outsideError('-shave', pixels);
  return extract(pixels, { left: x, top: y, width, height });
}

/** Rounds the corners by making the area outside them transparent. */
function roundedCorners(pixels: Pixels, value: string) {
  const { width, height } = pixels;
  const { x, y } = edgePixels(parseEdges(value), pixels);
  const mask = `<svg width="${width}" height="${height}"><rect width="${width}" height="${height}" rx="${x}" ry="${y}"/></svg>`;
  return apply(pixels, (pipeline) =>
    pipeline.ensureAlpha().composite([{ input: Buffer.from(mask), blend: 'dest-in' }]),
  );
}

/** Draws the image on a color. The result is opaque if the color is; a transparent color changes nothing. */
export function flatten(pixels: Pixels, color: string): Promise<Pixels> | Pixels {
  const background = rgba(toColor(color));
  if (pixels.channels === 3 || background.alpha === 0) return pixels;
  return apply(pixels, (pipeline) => pipeline.flatten({ background }));
}

function extend(
  pixels: Pixels,
  sides: { left: number; top: number; right: number; bottom: number },
  color: string,
) {
  const background = rgba(toColor(color));
  return apply(pixels, (pipeline) =>
    (background.alpha < 1 ? pipeline.ensureAlpha() : pipeline).extend({ ...sides, background }),
  );
}

/** Cuts a rectangle out of the image. */
function extract(pixels: Pixels, part: Rectangle): Promise<Pixels> | Pixels {
  if (part.width === pixels.width && part.height === pixels.height) return pixels;
  return apply(pixels, (pipeline) => pipeline.extract(part));
}

/** Converts to gray with the luma of Rec. 709, which ImageMagick computes from gamma-coded values. */
function gray(pixels: Pixels): Promise<Pixels> {
  const luma = [0.212656, 0.715158, 0.072186] as const;
  return apply(pixels, (pipeline) => pipeline.recomb([[...luma], [...luma], [...luma]]));
}

function rgba([red, green, blue, alpha]: Color) {
  return { r: red * 255, g: green * 255, b: blue * 255, alpha };
}

function outsideError(name: string, { width, height }: Size): ConversionError {
  const rule = name === '-shave' ? 'must leave part of the image' : 'must overlap the image';
  return new ConversionError(
    'BAD_PARAMETER',
    `Parameter '${name}' ${rule}, which is ${width}x${height} pixels.`,
    { parameter: name },
  );
}
