import type { Sharp } from 'sharp';
import { writeOutput } from '../engines/chromium/output.ts';
import { type Session, showArea } from '../engines/chromium/page/session.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkImageSize, type Format } from '../shared/formats.ts';
import type { Size } from '../shared/options/geometry.ts';
import type { ConversionLimits } from '../shared/tool.ts';
import type { Html2imageOptions, ImageFormat } from './tool.ts';

/** Height of a tile in pixels. Chromium repeats or truncates screenshots that are taller than 16384. */
const TILE = 8192;

/** Chromium's names of the formats. */
const SCREENSHOT = { jpg: 'jpeg', png: 'png', webp: 'webp' } as const satisfies Record<ImageFormat, string>;

interface CaptureOptions {
  readonly zoom: number;
  readonly format: ImageFormat;
  readonly quality: number;
  readonly transparent: boolean;
  /** Size of the image, if it is not that of the area. */
  readonly target?: Size | undefined;
}

/** Writes a screenshot of a part of the page, of any height, to a file. */
export async function capture(
  session: Session,
  area: Area,
  size: { readonly width: number; readonly height: number },
  options: CaptureOptions & { readonly path: string },
): Promise<void> {
  const { path, target } = options;
  if (size.height <= TILE && !target) return writeOutput(path, await captureTile(session, area, options));

  const step = tileHeight(options.zoom);
  const tiles: Buffer[] = [];
  for (let top = 0; top < area.height; top += step) {
    const tile = { ...area, y: area.y + top, height: Math.min(step, area.height - top) };
    tiles.push(await captureTile(session, tile, { ...options, format: 'png' }));
  }
  // Only imported for tall or resized pages, which shortens a cold start.
  const { default: sharp } = await import('sharp');
  const background = { r: 255, g: 255, b: 255, alpha: options.transparent ? 0 : 1 };
  const joined =
    tiles.length === 1
      ? sharp(tiles[0], { limitInputPixels: false })
      : sharp(tiles, { join: { across: 1, background }, limitInputPixels: false });
  // `join` makes all tiles as tall as the tallest, but the last one is shorter.
  const { width, height } = size;
  const whole = joined.extract({ left: 0, top: 0, width, height });
  const resized = target ? whole.resize({ ...target, fit: 'fill' }) : whole;
  await writeOutput(path, await encode(resized, options).toBuffer());
}

/**
 * Returns the height of a tile in CSS pixels. It is a whole number and, where possible, also a whole number of image
 * pixels, so that no row is repeated or missing.
 */
function tileHeight(zoom: number): number {
  const tallest = Math.max(1, Math.floor(TILE / zoom));
  for (let height = tallest; height > tallest / 2; height--)
    if (Number.isInteger(height * zoom)) return height;
  return tallest;
}

async function captureTile(session: Session, area: Area, options: CaptureOptions): Promise<Buffer> {
  const { format, quality } = options;
  const kind = SCREENSHOT[format];
  const screenshot = {
    format: kind,
    ...(kind === 'png' ? { optimizeForSpeed: true } : { quality }),
  } as const;
  if (isWhole(area, options.zoom)) {
    await showArea(session, area);
    return session.frames.screenshot(screenshot);
  }
  // This takes twice as long, because the page is laid out and drawn again.
  const { protocol, frames } = session;
  const clip = { ...area, scale: 1 };
  const shot = protocol.send('Page.captureScreenshot', { ...screenshot, clip, captureBeyondViewport: true });
  const { data } = await frames.draw(frames.expedite(shot));
  return Buffer.from(data, 'base64');
}

/** Whether the edges of an area are on pixel boundaries, both of the image and of the page. */
function isWhole({ x, y, width, height }: Area, zoom: number): boolean {
  return [width, height, x * zoom, y * zoom, width * zoom, height * zoom].every(Number.isInteger);
}

function encode(image: Sharp, { format, quality }: CaptureOptions): Sharp {
  switch (format) {
    case 'jpg':
      return image.flatten({ background: 'white' }).jpeg({ quality });
    case 'webp':
      return image.webp({ quality });
    case 'png':
      return image.png();
  }
}

/** A part of the page. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

type Crop = Pick<Html2imageOptions, 'cropLeft' | 'cropTop' | 'cropWidth' | 'cropHeight'>;

/**
 * Applies a crop, in pixels of the image, to an area in CSS pixels.
 * @throws ConversionError `BAD_PARAMETER` if the crop is outside the image.
 */
export function cropArea(
  area: Area,
  { cropLeft, cropTop, cropWidth, cropHeight, zoom }: Crop & { readonly zoom: number },
): Area {
  const x = cropLeft / zoom;
  const y = cropTop / zoom;
  const width = Math.min(area.width - x, (cropWidth || Number.POSITIVE_INFINITY) / zoom);
  const height = Math.min(area.height - y, (cropHeight || Number.POSITIVE_INFINITY) / zoom);
  if (width > 0 && height > 0) return { x: area.x + x, y: area.y + y, width, height };
  const size = `${Math.round(area.width * zoom)}x${Math.round(area.height * zoom)}`;
  throw new ConversionError(
    'BAD_PARAMETER',
    `Parameters '--crop-x' and '--crop-y' must be inside the image, which is ${size} pixels, got ${cropLeft} and ${cropTop}.`,
    { parameter: width > 0 ? '--crop-y' : '--crop-x' },
  );
}

/**
 * Returns the size of the image in pixels.
 * @throws ConversionError `RESULT_TOO_LARGE` if the format or the limits do not allow it.
 */
export function imageSize({ width, height }: Area, zoom: number, format: Format, limits: ConversionLimits) {
  const size = { width: Math.round(width * zoom), height: Math.round(height * zoom) };
  checkImageSize(size, { maxPixels: limits.pixels, format });
  return size;
}
