import { ConversionError } from '../shared/errors.ts';
import { maxSide } from '../shared/formats.ts';
import type { Format, Limits } from '../shared/tool.ts';
import type { Html2imageOptions } from './tool.ts';

/** A part of the page. */
export interface Area {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

type Crop = Pick<Html2imageOptions, 'cropLeft' | 'cropTop' | 'cropWidth' | 'cropHeight'>;

/** Applies a crop, in pixels of the image, to an area in CSS pixels. */
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
    `The crop area must overlap the image, which is ${size} pixels.`,
  );
}

/**
 * Returns the size of the image in pixels.
 * @throws ConversionError `RESULT_TOO_LARGE` if the format or the limits do not allow it.
 */
export function imageSize({ width, height }: Area, zoom: number, format: Format, limits: Limits) {
  const size = { width: Math.round(width * zoom), height: Math.round(height * zoom) };
  const longest = maxSide(format);
  const fits = Math.max(size.width, size.height) <= longest && size.width * size.height <= limits.pixels;
  if (fits) return size;
  throw new ConversionError(
    'RESULT_TOO_LARGE',
    `The image would be ${size.width}x${size.height} pixels. The maximum for ${format} is ${longest} pixels per side and ${limits.pixels} pixels in total.`,
  );
}
