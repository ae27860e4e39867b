import { PassThrough, type Readable, Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Busboy, type BusboyInstance } from '@fastify/busboy';
import { ConversionError } from '../../shared/errors.ts';
import { MAX_PARAMETERS } from '../query.ts';
import { isFile, MAX_FIELD_BYTES, type Part } from './part.ts';

/** Files of one body: a page and its assets. */
const MAX_FILES = 200;
/** Bytes that a file may be read ahead in each of the two streams that it passes. */
const READ_AHEAD = 16 * 1024;
/** Bytes that are parsed at once. They may be costly: a part without a name takes 9 bytes and 10 µs. */
const SLICE = 4096;
/** Milliseconds of a turn of the event loop after which no further slice of any body is parsed in it. */
const TURN_TIME = 5;
let turnBegan = Number.NEGATIVE_INFINITY;
let nextTurn: Promise<void> | undefined;

/**
 * Yields the parts of a `multipart/form-data` body in their order. The content of a file must be read before the next part is
 * requested.
 * @throws ConversionError `CORRUPT_SOURCE` for a body that is truncated or not multipart, `BAD_PARAMETER` for one with too many parts,
 * and the errors of the body.
 */
export async function* readMultipart(body: Readable, contentType: string): AsyncGenerator<Part> {
  const parser = createParser(contentType);
  const parts: Part[] = [];
  let [bytes, isFinished] = [0, false];
  let failure: Error | undefined;
  let next = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  /** The file that is being read. */
  let current: Readable | undefined;
  // The key may be in what precedes the first file, so nobody has checked it yet.
  let bytesLeft = 2 * MAX_FIELD_BYTES;
  const slices = inSlices({
    count: (length) => {
      bytesLeft -= length;
      if (bytesLeft < 0 && current === undefined) fail(tooMany());
    },
    untilWanted: async () => {
      await untilTurnHasTime();
      // Small files fit into the buffers of their streams, so only this keeps all of them from being read ahead.
      while (parts.some(isFile)) await taken.promise;
    },
  });
  const fail = (error: Error) => {
    failure ??= error;
    slices.unpipe(parser);
    current?.destroy(failure);
    next.resolve();
  };
  parser.on('field', (name, value, _, isTruncated) => {
    bytes += (name?.length ?? 0) + value.length;
    if (bytes > MAX_FIELD_BYTES || isTruncated) return fail(tooMany());
    parts.push({ name: name ?? '', value });
    next.resolve();
  });
  parser.on('file', (name, content, fileName, _, type) => {
    // The parser reports a truncated body here. Without a listener, that would end this process.
    content.on('error', (cause) => fail(damaged(cause)));
    // The reader gets the error of `fail`, which may also be that of the body.
    current = content.pipe(new PassThrough({ highWaterMark: READ_AHEAD }));
    current.on('error', () => {});
    parts.push({ name: name ?? '', fileName: fileName ?? '', contentType: type, content: current });
    next.resolve();
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit']) parser.on(limit, () => fail(tooMany()));
  parser.once('error', (cause: Error) => fail(damaged(cause)));
  parser.once('finish', () => {
    isFinished = true;
    next.resolve();
  });
  body.once('error', fail);
  if (body.errored) fail(body.errored);
  else body.pipe(slices).pipe(parser);
  try {
    for (;;) {
      const part = parts.shift();
      taken.resolve();
      taken = Promise.withResolvers();
      if (part) yield part;
      else if (failure) throw failure;
      else if (isFinished) return;
      else {
        next = Promise.withResolvers<void>();
        await next.promise;
      }
    }
  } finally {
    body.unpipe(slices);
    slices.destroy();
    parser.destroy();
  }
}

/** Waits for a turn of the event loop that has time left. Bodies take turns, because they wait in the order of their slices. */
async function untilTurnHasTime(): Promise<void> {
  while (performance.now() - turnBegan >= TURN_TIME) {
    nextTurn ??= setImmediate().then(() => {
      turnBegan = performance.now();
      nextTurn = undefined;
    });
    await nextTurn;
  }
}

/** Passes a body on in slices, each when it is wanted, and calls `count` with the number of bytes before each chunk. */
function inSlices({
  count,
  untilWanted,
}: {
  count(length: number): void;
  untilWanted(): Promise<void>;
}): Transform {
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      count(chunk.length);
      for (let start = 0; start < chunk.length && !this.destroyed; start += SLICE) {
        await untilWanted();
        this.push(chunk.subarray(start, start + SLICE));
      }
      done();
    },
  });
}

function createParser(contentType: string): BusboyInstance {
  try {
    const limits = {
      fieldNameSize: 200,
      fieldSize: MAX_FIELD_BYTES,
      fields: MAX_PARAMETERS,
      files: MAX_FILES,
      // Others are neither fields nor files.
      parts: MAX_PARAMETERS + MAX_FILES,
      headerPairs: 20,
      headerSize: 8192,
    };
    // The files of a page are found by their paths.
    const headers = { 'content-type': contentType };
    return new Busboy({ headers, preservePath: true, fileHwm: READ_AHEAD, limits });
  } catch (cause) {
    throw damaged(cause);
  }
}

function damaged(cause?: unknown): ConversionError {
  return new ConversionError(
    'CORRUPT_SOURCE',
    'The multipart body of the request is incomplete or damaged.',
    { cause },
  );
}

function tooMany(): ConversionError {
  return new ConversionError(
    'BAD_PARAMETER',
    `A multipart body may have at most ${MAX_PARAMETERS} fields of ${MAX_FIELD_BYTES} bytes in total, and ${MAX_FILES} files.`,
  );
}
