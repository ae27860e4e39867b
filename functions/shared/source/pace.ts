import { Transform } from 'node:stream';

/** Maximum number of chunks passed on per event-loop turn. */
const CHUNKS = 16;

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
      if (chunks % CHUNKS === 0) setImmediate(done, null, chunk);
      else done(null, chunk);
    },
  });
}
