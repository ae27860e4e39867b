import { once } from 'node:events';
import {
  closeSync,
  constants,
  createReadStream,
  createWriteStream,
  fstatSync,
  openSync,
  readSync,
} from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PassThrough } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { Grant, Put } from '../platform/storage.ts';
import { ConversionError, resultTooLargeError } from '../shared/errors.ts';
import { FORMATS, type Format } from '../shared/formats.ts';
import { type OutputName, pageName } from '../shared/output-name.ts';
import type { ConversionLimits, Output } from '../shared/tool.ts';

/**
 * Maximum bytes of a page that is compressed in one piece. A larger one is compressed once more, in chunks. A
 * checksum of this many bytes takes 20 ms.
 */
const LARGE = 4_000_000;

interface StoreRequest {
  readonly outputs: Iterable<Output> | AsyncIterable<Output>;
  readonly outputName: OutputName;
  readonly format: Format;
  readonly directory: string;
  readonly limits: ConversionLimits;
  readonly grant: Grant;
  readonly put: Put;
  readonly signal: AbortSignal;
}

/**
 * Stores the outputs of a conversion as they are finished and returns their object keys in order.
 * @throws ConversionError `CONVERSION_FAILED` if an output is missing or does not start with the signature of its format,
 * `RESULT_TOO_LARGE` if a limit is exceeded.
 */
export async function storeOutputs(request: StoreRequest): Promise<string[]> {
  if (request.outputName.kind === 'archive') return [await storeArchive(request, request.outputName)];

  const { outputName, format, grant, put, signal } = request;
  const { contentType } = FORMATS[format];
  const objectKeys: string[] = [];
  for await (const { path, bytes, page } of checked(request)) {
    const name = outputName.kind === 'one' ? outputName.name : pageName(outputName.pattern, page);
    const file = { path, name, contentType, bytes, ...(outputName.kind === 'numbered' && { page }) };
    objectKeys.push(await put(grant, file, signal));
  }
  return objectKeys;
}

async function storeArchive(
  request: StoreRequest,
  { name, pattern }: { name: string; pattern: string },
): Promise<string> {
  const { directory, grant, put, signal } = request;
  const path = join(directory, 'archive.zip');
  const archive = new ZipFile();
  const stream = archive.outputStream as PassThrough;
  archive.once('error', (error) => stream.destroy(error as Error));
  const written = pipeline(stream, createWriteStream(path), { signal });
  // Awaited at the end, but may fail earlier, while the next page is being converted.
  written.catch(() => {});
  try {
    for await (const output of checked(request)) {
      const entry = pageName(pattern, output.page);
      // The size and checksum of an uncompressed entry must precede its data, because some readers require that. yazl
      // computes them synchronously, which takes too long for a large page.
      if (output.bytes > LARGE) {
        const content = createReadStream(output.path);
        archive.addReadStream(content, entry, { compressionLevel: 1 });
        await Promise.race([finished(content), written]).finally(() => content.destroy());
      } else archive.addBuffer(await readFile(output.path), entry, { compress: false });
      if (stream.writableNeedDrain) await Promise.race([once(stream, 'drain'), written]);
    }
    archive.end();
  } catch (thrown) {
    stream.destroy();
    throw thrown;
  }
  await written;
  const { size } = await stat(path);
  return put(grant, { path, name, contentType: 'application/zip', bytes: size }, signal);
}

/** Yields the outputs with their sizes and page numbers, and throws at the first invalid output. */
async function* checked({ outputs, format, directory, limits }: StoreRequest) {
  let total = 0;
  let count = 0;
  for await (const { path, page } of outputs) {
    count += 1;
    // A compromised engine could name any file.
    if (dirname(path) !== directory) throw noOutputError();
    const bytes = checkSignature(path, format);
    total += bytes;
    if (count > limits.files) {
      throw new ConversionError(
        'RESULT_TOO_LARGE',
        `The result has more than ${limits.files} files. Select fewer pages.`,
      );
    }
    if (total > limits.resultBytes) {
      throw resultTooLargeError(limits.resultBytes);
    }
    yield { path, bytes, page: page ?? count };
  }
  if (count === 0) throw noOutputError();
}

/** Checks that a file begins with the signature of its format, and returns its size. */
function checkSignature(path: string, format: Format): number {
  const { size, head } = readHead(path);
  if (FORMATS[format].matches(head)) return size;
  throw new ConversionError('CONVERSION_FAILED', `The conversion produced a file that is not ${format}.`);
}

/** Flags that do not block on a pipe and do not follow a link. */
const READING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;

/**
 * Reads the size and the first bytes of a file. Synchronous: several times faster than the thread pool for these few
 * calls.
 */
function readHead(path: string): { size: number; head: Buffer } {
  const head = Buffer.alloc(16);
  let file: number | undefined;
  try {
    file = openSync(path, READING);
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error('The output is not a regular file.');
    readSync(file, head);
    return { size: stats.size, head };
  } catch (cause) {
    throw noOutputError(cause);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function noOutputError(cause?: unknown): ConversionError {
  return new ConversionError('CONVERSION_FAILED', undefined, { cause });
}
