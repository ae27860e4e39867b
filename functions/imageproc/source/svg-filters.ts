import { ConversionError } from '../../shared/errors.ts';
import type { Size } from '../../shared/options/geometry.ts';

/** Maximum number of pixels that all filters together may write: 300 soft shadows on an image of 16 megapixels. */
const MAX_FILTERED = 5_000_000_000;

/**
 * Estimates the cost of an SVG's filters from its text. Each primitive of a filter processes the whole image and keeps
 * its own copy of it.
 * @throws ConversionError `SOURCE_TOO_LARGE`
 */
export function checkFilters(svg: Buffer, { width, height }: Size): void {
  const text = svg.toString('latin1');
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const primitives = count(/<(\w+:)?fe[A-Z]/g);
  const filters = count(/<(\w+:)?filter[\s>]/g);
  const uses = count(/\bfilter\s*[:=]/g);
  if (((primitives * uses) / Math.max(filters, 1)) * width * height <= MAX_FILTERED) return;
  const message = `The SVG applies too many filters for its size, ${width}x${height} pixels.`;
  throw new ConversionError('SOURCE_TOO_LARGE', message);
}
