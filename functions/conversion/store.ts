import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Grant, Put } from '../platform/storage.ts';
import { ConversionError, resultTooLargeError } from '../shared/errors.ts';
import { FORMATS, type Format } from '../shared/formats.ts';
import { type OutputName, pageName } from '../shared/output-name.ts';
import type { ConversionLimits, Output } from '../shared/tool.ts';
import { READING, StoredZip } from './stored-zip.ts';

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
  const archive = await StoredZip.create(path);
  let bytes: number;
  try {
    for await (const output of checked(request))
      await archive.add(output.path, pageName(pattern, output.page), signal);
    bytes = await archive.end();
  } finally {
    await archive.close();
  }
  return put(grant, { path, name, contentType: 'application/zip', bytes }, signal);
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
