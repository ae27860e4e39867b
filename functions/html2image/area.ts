import { ConversionError } from '../shared/errors.ts';
import { checkImageSize, type Format } from '../shared/formats.ts';
import type { ConversionLimits } from '../shared/tool.ts';
import type { Html2imageOptions } from './tool.ts';

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
