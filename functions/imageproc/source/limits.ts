import { ConversionError } from '../../shared/errors.ts';

/** @throws ConversionError `SOURCE_TOO_LARGE` */
export function checkSourcePixels(width: number, height: number, maxPixels: number): void {
  if (width * height <= maxPixels) return;
  const message = `The source has ${width}x${height} pixels. The maximum is ${maxPixels} pixels in total.`;
  throw new ConversionError('SOURCE_TOO_LARGE', message);
}

/** Rethrows an error as `CORRUPT_SOURCE`, unless it already is a `ConversionError`. */
export function damaged(cause: unknown): never {
  if (cause instanceof ConversionError) throw cause;
  throw new ConversionError('CORRUPT_SOURCE', 'The image is damaged.', { cause });
}

/** Returns the error for a frame number past the `count` frames of a source. */
export function missingFrameError(frame: number, count: number): ConversionError {
  const message =
    count === 1
      ? `Parameter '-frame' is ${frame}, but the source has only frame 0.`
      : `Parameter '-frame' is ${frame}, but the source has frames 0 to ${count - 1}.`;
  return new ConversionError('PAGE_RANGE', message, { parameter: '-frame' });
}
