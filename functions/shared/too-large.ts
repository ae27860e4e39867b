import { ConversionError } from './errors.ts';

/** Returns the error for a source with more than `limit` bytes. */
export function sourceTooLarge(limit: number): ConversionError {
  return new ConversionError('SOURCE_TOO_LARGE', `The source exceeds the limit of ${megabytes(limit)}.`);
}

/** Returns the error for a result with more than `limit` bytes. */
export function resultTooLarge(limit: number): ConversionError {
  return new ConversionError('RESULT_TOO_LARGE', `The result exceeds the limit of ${megabytes(limit)}.`);
}

/** Formats a number of bytes in MB. */
export function megabytes(bytes: number): string {
  return `${bytes / 1e6} MB`;
}
