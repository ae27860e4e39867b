import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib';
import { ConversionError, sourceTooLargeError } from '../errors.ts';

export interface DecodeRequest {
  readonly path: string;
  /** Path of the decoded file, which must not exist yet. */
  readonly target: string;
  /** Names of content codings in the order in which they were applied. */
  readonly encodings: readonly string[];
  /** Maximum bytes of the decoded file. */
  readonly limit: number;
}

/** Runs `decodeFile`, which may be in another process. */
export type Decode = (
  request: DecodeRequest,
  options: { readonly account: string; readonly signal: AbortSignal; readonly directory: string },
) => Promise<number>;

/** Maximum window of a zstd frame. RFC 9659 allows no more for HTTP, and the decoder's own default is 128 MB. */
const ZSTD_WINDOW_LOG = 23;

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: () => createZstdDecompress({ params: { [constants.ZSTD_d_windowLogMax]: ZSTD_WINDOW_LOG } }),
};

/** Whether a source with these content codings can be read: at most two, all known. */
export function canDecode(encodings: readonly string[]): boolean {
  return encodings.length <= 2 && encodings.every((encoding) => Object.hasOwn(DECODERS, encoding));
}

/**
 * Decodes the content codings of a file, the last one first, and returns the size of the decoded file.
 * @throws ConversionError `SOURCE_TOO_LARGE`, `CORRUPT_SOURCE`
 */
export async function decodeFile({ path, target, encodings, limit }: DecodeRequest): Promise<number> {
  let bytes = 0;
  const count = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      if (bytes > limit) done(sourceTooLargeError(limit));
      else done(null, chunk);
    },
  });
  const decoders = encodings.toReversed().map((encoding) => DECODERS[encoding]!());
  const output = createWriteStream(target, { flags: 'wx', mode: 0o600 });
  try {
    await pipeline([createReadStream(path), ...decoders, count, output]);
    return bytes;
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
    if (!/^(Z_|ZSTD_|ERR__)/.test(code)) throw cause;
    throw new ConversionError('CORRUPT_SOURCE', 'The compressed body of the source is damaged.', { cause });
  }
}
