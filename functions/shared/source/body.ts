import { closeSync, openSync, writeSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { type Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { ConversionError } from '../errors.ts';
import { quote } from '../options/parameters.ts';
import { unreachable } from './request.ts';

/**
 * Writes the decompressed body of a response to a file and returns its size in bytes.
 * @throws ConversionError `SOURCE_TOO_LARGE` as soon as the limit is exceeded, `SOURCE_TIMEOUT`, `SOURCE_UNREACHABLE`,
 * `CORRUPT_SOURCE`, `UNSUPPORTED_SOURCE`.
 */
export async function saveBody(
  response: IncomingMessage,
  options: { path: string; limit: number; idle: number; signal: AbortSignal },
): Promise<number> {
  const { path, limit, idle, signal } = options;
  let bytes = 0;
  let file: number | undefined;
  const silent = setTimeout(() => {
    response.destroy(new ConversionError('SOURCE_TIMEOUT', 'The server of the source stopped sending.'));
  }, idle);
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      done(bytes > limit ? tooLarge(limit) : attempt(() => writeAll(file!, chunk)));
    },
  });
  try {
    if (Number(response.headers['content-length']) > limit) throw tooLarge(limit);
    const decoders = decodersOf(response.headers['content-encoding'] ?? '');
    file = openSync(path, 'wx', 0o600);
    const saved = pipeline([response, ...decoders, sink], { signal });
    response.on('data', () => silent.refresh());
    await saved;
    return bytes;
  } catch (error) {
    throw downloadError(error);
  } finally {
    clearTimeout(silent);
    response.destroy();
    if (file !== undefined) closeSync(file);
  }
}

/** Synchronous: writing to the page cache takes a tenth of the time that the thread pool needs for each chunk. */
function writeAll(file: number, chunk: Buffer): void {
  for (let written = 0; written < chunk.length; ) written += writeSync(file, chunk, written);
}

function attempt(work: () => void): Error | null {
  try {
    work();
    return null;
  } catch (thrown) {
    return thrown instanceof Error ? thrown : new Error(String(thrown));
  }
}

/** Returns the streams that decode a content encoding, in the reverse order of its list. */
function decodersOf(header: string): Transform[] {
  const encodings = header
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');
  const known = encodings.length <= 2 && encodings.every((encoding) => Object.hasOwn(DECODERS, encoding));
  if (known) return encodings.reverse().map((encoding) => DECODERS[encoding]!());
  throw new ConversionError(
    'UNSUPPORTED_SOURCE',
    `The server sent the source with an unsupported content encoding, ${quote(header)}.`,
  );
}

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

/** Returns the error of a failed download for the caller. Errors of the local disk stay private. */
function downloadError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(ENOSPC|EDQUOT|EROFS|EACCES|EEXIST|ENOENT|EMFILE)$/.test(code)) return error;
  if (!/^(Z_|ZSTD_|ERR__)/.test(code)) return unreachable(error);
  return new ConversionError('CORRUPT_SOURCE', 'The compressed body of the source is damaged.', {
    cause: error,
  });
}

function tooLarge(limit: number): ConversionError {
  return new ConversionError('SOURCE_TOO_LARGE', `The source must not be larger than ${limit} bytes.`);
}
