import { Transform } from 'node:stream';

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
