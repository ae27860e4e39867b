import { closeSync, openSync, write, writeSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { ConversionError, sourceTooLargeError } from '../errors.ts';
import { startArrivalTimer } from '../time.ts';
import { unreachableError } from './request.ts';

/**
 * Number of bytes to write synchronously. Further writes could block, because the kernel slows down a process that
 * fills the page cache faster than the disk empties it.
 */
const QUICK_BYTES = 2 ** 20;

/**
 * Writes the body of a response, as it was sent, to a file and returns its size in bytes.
 * @throws ConversionError `SOURCE_TOO_LARGE` as soon as the limit is exceeded, `SOURCE_TIMEOUT`, `SOURCE_UNREACHABLE`
 */
export async function saveBody(
  response: IncomingMessage,
  options: { path: string; limit: number; idle: number; signal: AbortSignal },
): Promise<number> {
  const { path, limit, idle, signal } = options;
  let bytes = 0;
  let chunks = 0;
  let file: number | undefined;
  let writing: Promise<void> | undefined;
  let isWriting = false;
  const silent = startArrivalTimer(idle, () => {
    // The server is not to blame, because nothing is read while the disk is busy.
    if (isWriting) return silent.restart();
    response.destroy(new ConversionError('SOURCE_TIMEOUT', 'The source server stopped sending.'));
  });
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      chunks += 1;
      if (bytes > limit) return done(sourceTooLargeError(limit));
      if (areTinyChunks(chunks, bytes)) return done(tinyChunksError());
      if (bytes <= QUICK_BYTES) return done(attempt(() => writeAll(file!, chunk)));
      isWriting = true;
      // Runs before the next chunk, which may be written just as slowly.
      const end = (error?: Error) => {
        isWriting = false;
        silent.restart();
        done(error);
      };
      writing = writeSlowly(file!, chunk).then(() => end(), end);
    },
  });
  try {
    if (Number(response.headers['content-length']) > limit) throw sourceTooLargeError(limit);
    file = openSync(path, 'wx', 0o600);
    const saved = pipeline([response, pace(), sink], { signal });
    response.on('data', () => silent.restart());
    await saved;
    return bytes;
  } catch (error) {
    throw downloadError(error);
  } finally {
    silent.stop();
    response.destroy();
    if (file !== undefined) close(file, writing);
  }
}

function tinyChunksError(): ConversionError {
  const message = 'The source server sent too many tiny chunks.';
  return new ConversionError('SOURCE_UNREACHABLE', message);
}

const writeInBackground = promisify(write);

async function writeSlowly(file: number, chunk: Buffer): Promise<void> {
  for (let written = 0; written < chunk.length; ) {
    written += (await writeInBackground(file, chunk, written)).bytesWritten;
  }
}

/**
 * Closes a file after its last write. Otherwise, a queued write would go to the next file that gets the same
 * descriptor.
 */
function close(file: number, writing: Promise<void> | undefined): void {
  if (writing) void writing.then(() => closeSync(file));
  else closeSync(file);
}

/**
 * Writes a chunk synchronously. Writing to the page cache takes a tenth of the time that the thread pool needs for
 * each chunk.
 */
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

/** Returns the error of a failed download for the caller. Errors of the local disk stay private. */
function downloadError(error: unknown): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^(ENOSPC|EDQUOT|EROFS|EACCES|EEXIST|ENOENT|EMFILE|ENFILE)$/.test(code)
    ? error
    : unreachableError(error);
}

/** Maximum number of chunks passed on per event-loop turn. */
export const CHUNKS_PER_TURN = 16;

/**
 * Returns a stream that passes on a limited number of chunks per event-loop turn. A server that sends as fast as it
 * can, or in tiny chunks, thus leaves time for other callers.
 */
export function pace(): Transform {
  let chunks = 0;
  return new Transform({
    // Counts chunks instead of bytes, because a tiny chunk costs as much time as a large one.
    objectMode: true,
    highWaterMark: 1,
    transform(chunk, _encoding, done) {
      chunks += 1;
      if (chunks % CHUNKS_PER_TURN === 0) setImmediate(done, null, chunk);
      else done(null, chunk);
    },
  });
}

/** A body may have 50,000 chunks of any size. Beyond that, chunks must average at least 16 bytes. */
const [MAX_TINY_CHUNKS, MIN_AVERAGE_BYTES] = [50_000, 16];

/**
 * Whether a server sends its bytes in tiny chunks. Each chunk costs this process as much time and memory as one of 64
 * KiB, which a limit on bytes does not account for.
 */
export function areTinyChunks(chunks: number, bytes: number): boolean {
  return chunks > MAX_TINY_CHUNKS && bytes < MIN_AVERAGE_BYTES * chunks;
}
