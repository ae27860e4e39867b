import { gunzipSync } from 'node:zlib';
import { ConversionError } from '../../shared/errors.ts';
import { megabytes } from '../../shared/too-large.ts';
import { damaged } from './limits.ts';

/** Maximum bytes of a source after decompression. */
const MAX_BYTES = 20_000_000;

/**
 * Decompresses a gzip-compressed source, such as an `.svgz`. Returns others unchanged.
 * @throws ConversionError `SOURCE_TOO_LARGE`, `CORRUPT_SOURCE`
 */
export function gunzipSource(bytes: Buffer): Buffer {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_BYTES });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ERR_BUFFER_TOO_LARGE') return damaged(thrown);
    const message = `The decompressed source exceeds the limit of ${megabytes(MAX_BYTES)}.`;
    throw new ConversionError('SOURCE_TOO_LARGE', message);
  }
}
