import { Transform } from 'node:stream';

/** Chunks that are passed on in one turn of the event loop. */
export const CHUNKS_PER_TURN = 16;

/**
 * Returns a stream that passes on a limited number of chunks in each turn of the event loop, so that a server that
 * sends as fast as it can, or in tiny chunks, leaves time for other callers.
 */
export function pace(): Transform {
  let chunks = 0;
  return new Transform({
    // Counts chunks, not bytes: a tiny chunk costs as much time as a large one.
    objectMode: true,
    highWaterMark: 1,
    transform(chunk, _encoding, done) {
      chunks += 1;
      if (chunks % CHUNKS_PER_TURN === 0) setImmediate(done, null, chunk);
      else done(null, chunk);
    },
  });
}

/** Chunks that a body may have whatever their size, and the average bytes of more than that. */
const [FREE, AVERAGE] = [50_000, 16];

/**
 * Whether a server sends its bytes in tiny chunks. Each chunk costs this process as much time and memory as
 * one of 64 KiB, and no limit in bytes sees it.
 */
export function areTinyChunks(chunks: number, bytes: number): boolean {
  return chunks > FREE && bytes < AVERAGE * chunks;
}
