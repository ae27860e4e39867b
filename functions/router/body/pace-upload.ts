import { type Readable, Transform } from 'node:stream';
import { ConversionError } from '../../shared/errors.ts';
import { areTinyChunks, CHUNKS_PER_TURN } from '../../shared/source/pace.ts';

/** Timeouts for sending a body, in milliseconds. */
interface UploadTimeouts {
  /** Maximum time between two chunks. */
  readonly idle: number;
  /** Maximum time until the end of the body. */
  readonly whole: number;
}

export const UPLOAD_TIMES: UploadTimeouts = { idle: 10_000, whole: 120_000 };

/**
 * Returns the body of a request as a stream that fails with `SOURCE_TIMEOUT` if the caller stops sending, and with
 * `CORRUPT_SOURCE` if the connection ends early. Destroying it leaves the connection open, so that a reply can be
 * sent.
 */
export function paceUpload(body: Readable, times: UploadTimeouts = UPLOAD_TIMES): Readable {
  let [chunks, bytes] = [0, 0];
  const paced = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      chunks += 1;
      bytes += chunk.length;
      idle.refresh();
      if (areTinyChunks(chunks, bytes))
        return done(corruptUploadError('it was sent in too many tiny chunks'));
      if (chunks % CHUNKS_PER_TURN === 0) setImmediate(done, null, chunk);
      else done(null, chunk);
    },
  });
  const expire = (time: number) => {
    const message = `Timed out after ${time / 1000} s waiting for the body of the request.`;
    paced.destroy(new ConversionError('SOURCE_TIMEOUT', message));
  };
  const idle = setTimeout(() => {
    // The caller has sent more than was read, so it is not the slow side.
    if (paced.readableLength > 0) idle.refresh();
    else expire(times.idle);
  }, times.idle);
  const whole = setTimeout(() => expire(times.whole), times.whole);
  const cut = () => {
    if (!body.readableEnded) paced.destroy(corruptUploadError('the connection was closed'));
  };
  body.once('error', cut).once('close', cut);
  paced.once('close', () => {
    clearTimeout(idle);
    clearTimeout(whole);
    body.unpipe(paced);
  });
  // There may be no reader when it fails. The error is kept for the next one.
  paced.on('error', () => {});
  return body.pipe(paced);
}

function corruptUploadError(reason: string): ConversionError {
  return new ConversionError('CORRUPT_SOURCE', `The body of the request is incomplete: ${reason}.`);
}
