import { PassThrough, type Readable, Transform } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { Busboy, type BusboyFileStream, type BusboyInstance } from '@fastify/busboy';
import { MAX_PARAMETERS } from '../../conversion/request.ts';
import { ConversionError, megabytes } from '../../shared/errors.ts';
import { createFairQueue } from '../../shared/fair-queue.ts';
import type { Parameter } from '../../shared/options/option.ts';

/** A file in the body of a request. */
export interface FilePart {
  /** Name of the field: `infile` or `asset`. */
  readonly name: string;
  /** File name as the caller sent it, possibly with a path. May be empty. */
  readonly fileName: string;
  /** Media type. May be empty. */
  readonly contentType: string;
  readonly content: Readable;
  /** The ID under which it is stored, if a parameter already names it. */
  readonly id?: string;
}

/** Extensions for sources without a file name, by media type. Other sources are recognized by their content. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  'text/html': '.html',
  'application/xhtml+xml': '.xhtml',
  'image/svg+xml': '.svg',
  'text/csv': '.csv',
  'text/tab-separated-values': '.tsv',
  'text/plain': '.txt',
  'application/rtf': '.rtf',
  'application/msword': '.doc',
  'application/vnd.ms-excel': '.xls',
  'application/vnd.ms-powerpoint': '.ppt',
};

/** Returns the extension for a media type, or an empty string. */
export function extensionOf(contentType: string): string {
  return EXTENSIONS[contentType] ?? '';
}

/** A part of the body of a request: a parameter or a file. */
export type Part = Parameter | FilePart;

/** Maximum bytes of all parameters in a body. */
export const MAX_FIELD_BYTES = 1_000_000;

export function isFile(part: Part): part is FilePart {
  return 'content' in part;
}

/** Maximum number of files in a body: a page and its assets. */
const MAX_FILES = 200;
/** Read-ahead per file in bytes, in each of the two streams that it passes through. */
const READ_AHEAD = 16 * 1024;
/** Bytes to parse at once. They may be costly: a part without a name takes 9 bytes and 10 µs. */
const SLICE = 4096;
/** Maximum bytes of boundaries and part headers. Parsing 64 KiB of them blocks the main thread for up to 4 ms. */
const MAX_OVERHEAD = 256 * 1024;
/** Maximum milliseconds of parsing per event-loop turn, all bodies together. */
const TURN_TIME = 2;
let turnBegan = Number.NEGATIVE_INFINITY;
let nextTurn: Promise<void> | undefined;
/** Parses at most one slice of headers or fields per event-loop turn, alternating between callers. */
const costlySlices = createFairQueue({ total: 1, perAccount: 1 });

/**
 * Yields the parts of a caller's `multipart/form-data` body in order. The content of a file must be read before the
 * next part is requested.
 * @throws ConversionError `CORRUPT_SOURCE` for a body that is truncated or not multipart, `BAD_PARAMETER` for a body
 * with too many parts, and the errors of the body.
 */
export async function* readMultipart(body: Readable, contentType: string, caller = ''): AsyncGenerator<Part> {
  const parser = createParser(contentType);
  const parts: Part[] = [];
  let [bytes, isFinished] = [0, false];
  let failure: Error | undefined;
  let next = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  /** The file that is being read. */
  let current: Readable | undefined;
  /** Parsed bytes, and the part of them in files before the one that is being parsed. */
  let [parsed, inFiles] = [0, 0];
  let parsing: BusboyFileStream | undefined;
  /** Parsed bytes that belong to no file or complete field. */
  const overhead = () => parsed - bytes - inFiles - (parsing?.bytesRead ?? 0);
  // The first slice consists of headers.
  let overheadBefore = -SLICE;
  const slices = inSlices(async () => {
    const isCostly = overhead() - overheadBefore > SLICE / 2;
    overheadBefore = overhead();
    if (isCostly) await costlySlices.run(caller, () => setImmediate());
    // Small files fit into the buffers of their streams, so only this keeps all of them from being read ahead.
    while (parts.some(isFile)) await taken.promise;
  });
  slices.on('data', (slice: Buffer) => {
    parsed += slice.length;
    if (overhead() > MAX_OVERHEAD + MAX_FIELD_BYTES - bytes) fail(tooManyPartsError());
  });
  const fail = (error: Error) => {
    failure ??= error;
    slices.unpipe(parser);
    current?.destroy(failure);
    next.resolve();
  };
  parser.on('field', (name, value, _, isTruncated) => {
    bytes += Buffer.byteLength(name ?? '') + Buffer.byteLength(value);
    if (bytes > MAX_FIELD_BYTES || isTruncated) return fail(tooManyPartsError());
    parts.push({ name: name ?? '', value });
    next.resolve();
  });
  parser.on('file', (name, content, fileName, _, type) => {
    // The parser reports a truncated body here. Without a listener, the error would end this process.
    content.on('error', (cause) => fail(damagedBodyError(cause)));
    inFiles += parsing?.bytesRead ?? 0;
    parsing = content;
    // The reader gets the error of `fail`, which may also be an error of the body.
    current = content.pipe(new PassThrough({ highWaterMark: READ_AHEAD }));
    current.on('error', () => {});
    parts.push({ name: name ?? '', fileName: fileName ?? '', contentType: type, content: current });
    next.resolve();
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'])
    parser.on(limit, () => fail(tooManyPartsError()));
  parser.once('error', (cause: Error) => fail(damagedBodyError(cause)));
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

/** Passes a body on in slices, each on demand and when the event-loop turn has time left for it. */
function inSlices(untilWanted: () => Promise<void>): Transform {
  return new Transform({
    async transform(chunk: Buffer, _encoding, done) {
      for (let start = 0; start < chunk.length && !this.destroyed; start += SLICE) {
        await untilWanted();
        // All bodies wait for the same turn, so each must check again right before its slice.
        while (performance.now() - turnBegan >= TURN_TIME) {
          nextTurn ??= beginTurn();
          await nextTurn;
        }
        this.push(chunk.subarray(start, start + SLICE));
      }
      done();
    },
  });
}

async function beginTurn(): Promise<void> {
  await setImmediate();
  turnBegan = performance.now();
  nextTurn = undefined;
}

function createParser(contentType: string): BusboyInstance {
  try {
    const limits = {
      fieldNameSize: 200,
      fieldSize: MAX_FIELD_BYTES,
      fields: MAX_PARAMETERS,
      files: MAX_FILES,
      // Other parts are neither fields nor files.
      parts: MAX_PARAMETERS + MAX_FILES,
      headerPairs: 20,
      headerSize: 8192,
    };
    // Keeps the paths in file names, because they identify the files of a page.
    const headers = { 'content-type': contentType };
    return new Busboy({ headers, preservePath: true, fileHwm: READ_AHEAD, limits });
  } catch (cause) {
    throw damagedBodyError(cause);
  }
}

function damagedBodyError(cause?: unknown): ConversionError {
  return new ConversionError(
    'CORRUPT_SOURCE',
    'The multipart body of the request is incomplete or damaged.',
    { cause },
  );
}

function tooManyPartsError(): ConversionError {
  return new ConversionError(
    'BAD_PARAMETER',
    `A multipart body may have at most ${MAX_PARAMETERS} fields of ${megabytes(MAX_FIELD_BYTES)} in total, ${MAX_FILES} files, and ${MAX_OVERHEAD / 1024} KiB of headers.`,
  );
}
