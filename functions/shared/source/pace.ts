import { Transform } from 'node:stream';

/** Chunks that are passed on in one turn of the event loop. */
const CHUNKS = 16;

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
      if (chunks % CHUNKS === 0) setImmediate(done, null, chunk);
      else done(null, chunk);
    },
  });
}
