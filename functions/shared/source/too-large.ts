import { ConversionError } from '../errors.ts';

/** Returns the error for a source with more than `limit` bytes. */
export function sourceTooLarge(limit: number): ConversionError {
  return new ConversionError('SOURCE_TOO_LARGE', `The source must not be larger than ${limit} bytes.`);
}
