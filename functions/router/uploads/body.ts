import { Readable, Transform } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { checkLength, MAX_PARAMETERS } from '../../conversion/request.ts';
import { ConversionError, megabytes } from '../../shared/errors.ts';
import { createFairQueue } from '../../shared/fair-queue.ts';
import { pairsOf } from '../../shared/options/args.ts';
import { MAX_PARAMETER_LENGTH, type Parameter } from '../../shared/options/option.ts';
import { quote } from '../../shared/quote.ts';
import { areTinyChunks, CHUNKS_PER_TURN } from '../../shared/source/body.ts';
import { unescapePercent } from '../../shared/source/data-url.ts';
import { dispositionName, mediaTypeIn } from '../../shared/source/file.ts';
import { withTimeout } from '../../shared/time.ts';
import { JOBS_PATH, JSON_PATH } from '../http.ts';
import { fileOf, isLong } from './long-values.ts';
import { type FilePart, isFile, MAX_FIELD_BYTES, type Part, readMultipart } from './multipart.ts';

/** The parts of a request with a body. */
interface BodyRequest {
  readonly method: string;
  readonly path: string;
  readonly query: readonly Parameter[];
  header(name: string): string | undefined;
  readonly body: Readable;
  /** Whether the body may be the source itself, even if its content type is that of a form. */
  readonly maySendSource: boolean;
  /** The names of all parameters. */
  readonly names: ReadonlySet<string>;
  /** Whether a file can be sent under this name. */
  takesSource(name: string): boolean;
}

/** A body that has been read up to its first file. */
export interface Body {
  /** The parameters before the first file. */
  readonly parameters: readonly Parameter[];
  /** The first file and everything after it. */
  readonly rest: AsyncIterable<Part>;
  /** Whether the body is the source itself, so that no parameters follow. */
  readonly isSource: boolean;
  /** Stops reading. */
  close(): void;
}

/** Timeout for the parameters before the first file, in milliseconds. Until then the key is unchecked. */
const FIELDS_TIMEOUT = 15_000;
/** Limits how many bodies are parsed at once, because 64 KiB of part headers block the main thread for up to 4 ms. */
const openings = {
  withKey: createFairQueue({ total: 64, perAccount: 4, maxWaiting: 250, tooMany: tooManyBodiesError }),
  withoutKey: createFairQueue({ total: 32, perAccount: 4, maxWaiting: 60, tooMany: tooManyBodiesError }),
};

/** The caller that limits are counted for. */
interface BodyCaller {
  /** The account, or the IP address of a caller without a key. */
  readonly name: string;
  readonly hasKey: boolean;
}

/**
 * Reads the body of a request up to its first file.
 * @throws ConversionError `SOURCE_TIMEOUT`, `CORRUPT_SOURCE`, `BAD_PARAMETER`, `UNSUPPORTED_SOURCE`, `RATE_LIMITED`
 */
export function openBody(request: BodyRequest, caller: BodyCaller, signal: AbortSignal): Promise<Body> {
  const queue = caller.hasKey ? openings.withKey : openings.withoutKey;
  const timeoutError = () =>
    new ConversionError(
      'SOURCE_TIMEOUT',
      `Timed out after ${FIELDS_TIMEOUT / 1000} s waiting for the parameters in the body.`,
    );
  return withTimeout(
    FIELDS_TIMEOUT,
    signal,
    (stop) => queue.run(caller.name, () => open(request, caller, { signal, stop }), stop),
    timeoutError,
  );
}

function tooManyBodiesError(): ConversionError {
  const message = 'Too many concurrent uploads. Send fewer at once.';
  return new ConversionError('RATE_LIMITED', message, { retryAfter: 1 });
}

/** `stop` aborts only the opening. `signal` aborts the whole read. */
async function open(
  request: BodyRequest,
  caller: BodyCaller,
  { signal, stop }: { readonly signal: AbortSignal; readonly stop: AbortSignal },
): Promise<Body> {
  const encoding = request.header('content-encoding')?.trim().toLowerCase() ?? '';
  if (encoding !== '' && encoding !== 'identity') {
    const message = `Content-Encoding ${quote(encoding)} is not supported for request bodies.`;
    throw new ConversionError('UNSUPPORTED_SOURCE', message);
  }
  // The body of a PUT is the source, even if it is empty.
  if (request.header('content-length') === '0' && request.method !== 'PUT')
    return { parameters: [], rest: none(), isSource: false, close() {} };
  const content = paceUpload(request.body);
  const cancel = () => content.destroy(signal.reason as Error);
  const close = () => {
    signal.removeEventListener('abort', cancel);
    content.destroy();
  };
  signal.addEventListener('abort', cancel, { once: true });
  stop.addEventListener('abort', () => content.destroy(stop.reason as Error), { once: true });
  try {
    return { ...withFiles(await openContent(request, content, caller), request), close };
  } catch (thrown) {
    close();
    throw thrown;
  }
}

async function openContent(
  request: BodyRequest,
  content: Readable,
  caller: BodyCaller,
): Promise<Omit<Body, 'close'>> {
  const type = mediaTypeIn(request.header('content-type'));
  const isForm = request.method === 'POST';
  if (isForm && type === 'multipart/form-data')
    return openMultipart(readMultipart(content, request.header('content-type') ?? '', caller.name));
  if (isForm && [JSON_PATH, JOBS_PATH].includes(request.path) && type === 'application/json')
    return { parameters: await readJson(content), rest: none(), isSource: false };
  const file = { name: 'infile', fileName: fileNameOf(request), contentType: type };
  if (!isForm || type !== 'application/x-www-form-urlencoded')
    return { parameters: [], rest: all([{ ...file, content }]), isSource: true };
  if (!request.maySendSource) return { parameters: await readForm(content), rest: none(), isSource: false };
  const { head, whole } = await readHead(content);
  if (!beginsAsForm(head, request.names))
    return { parameters: [], rest: all([{ ...file, content: whole }]), isSource: true };
  return { parameters: await readForm(whole), rest: none(), isSource: false };
}

/** Returns a body in which long values are files, so that the parameters remain short. */
function withFiles(body: Omit<Body, 'close'>, { query, takesSource }: BodyRequest): Omit<Body, 'close'> {
  const files: FilePart[] = [];
  const parameters = body.parameters.map((sent) => {
    if (!isLong(sent) || !takesSource(sent.name)) return sent;
    const { file, parameter } = fileOf(sent);
    files.push(file);
    return parameter;
  });
  checkLength([...query, ...parameters]);
  return files.length === 0 ? body : { ...body, parameters, rest: all(files, body.rest) };
}

async function openMultipart(parts: AsyncGenerator<Part>): Promise<Omit<Body, 'close'>> {
  const parameters: Parameter[] = [];
  for (;;) {
    const { value: part, done } = await parts.next();
    if (done) return { parameters, rest: none(), isSource: false };
    if (isFile(part)) return { parameters, rest: all([part], parts), isSource: false };
    parameters.push(part);
  }
}

/** Name of a parameter that may be misspelled. A plus sign that was not encoded is a space. */
const OPTION_NAME = /^(_\w+|-{1,2}[a-z][\w-]*|[+ ][a-z][\w-]*)$/i;

/**
 * Whether a body starts with a parameter. By default, `wget --post-file` and `curl --data-binary` send every file
 * with the content type of a form.
 */
function beginsAsForm(head: Buffer, names: ReadonlySet<string>): boolean {
  const [start = ''] = head.toString('latin1').split('&', 1);
  const [name = ''] = new URLSearchParams(start).keys();
  return head.length === 0 || names.has(name) || OPTION_NAME.test(name);
}

/** Maximum bytes up to the end of the first parameter's name. */
const HEAD_BYTES = 200;

/**
 * Reads the first bytes of a stream, and returns them together with the whole stream. Returns fewer only if there are
 * no more.
 */
async function readHead(content: Readable): Promise<{ head: Buffer; whole: Readable }> {
  const chunks: AsyncIterator<Buffer> = content[Symbol.asyncIterator]();
  let head = Buffer.alloc(0);
  while (head.length < HEAD_BYTES) {
    const { value, done } = await chunks.next();
    if (done) break;
    head = Buffer.concat([head, value]);
  }
  async function* chunked() {
    if (head.length > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  return { head, whole: Readable.from(chunked(), { objectMode: false }) };
}

/**
 * Maximum characters of JSON outside of its strings, because the key has not been checked yet: a megabyte of brackets
 * takes `JSON.parse` a second.
 */
const MAX_STRUCTURE = 20_000;
const [QUOTE, BACKSLASH, PLUS, SPACE] = [0x22, 0x5c, 0x2b, 0x20];

/** Reads the parameters of a JSON object. An array is a parameter that is given several times. */
async function readJson(content: Readable): Promise<Parameter[]> {
  const text = await readAll(content, boundStructure());
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new ConversionError('BAD_PARAMETER', 'The body is not valid JSON.');
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw new ConversionError('BAD_PARAMETER', 'The body must be a JSON object with the parameters.');
  const values = Object.values(parsed).map((value) => (Array.isArray(value) ? value.length : 1));
  if (values.reduce((sum, count) => sum + count, 0) > MAX_PARAMETERS) throw tooManyParametersError();
  return pairsOf(parsed as Readonly<Record<string, unknown>>, (name, rule) => {
    throw new ConversionError('BAD_PARAMETER', `Parameter ${quote(name)} ${rule}.`, { parameter: name });
  });
}

/** Returns a check of the characters outside of strings, chunk by chunk. */
function boundStructure(): (chunk: Buffer) => void {
  let [length, isString, isEscaped] = [0, false, false];
  return (chunk) => {
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isEscaped) isEscaped = false;
      else if (byte === QUOTE) isString = !isString;
      else if (!isString) length += 1;
      else isEscaped = byte === BACKSLASH;
    }
    if (length > MAX_STRUCTURE) throw tooManyParametersError();
  };
}

async function readForm(content: Readable): Promise<Parameter[]> {
  let separators = 0;
  // Counted before parsing, because the key has not been checked yet.
  const text = await readAll(content, (chunk) => {
    for (let at = chunk.indexOf('&'); at >= 0; at = chunk.indexOf('&', at + 1)) separators += 1;
    if (separators >= MAX_PARAMETERS) throw tooManyParametersError();
  });
  const parameters: Parameter[] = [];
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const [name, value] = pair.split(/=(.*)/s, 2);
    parameters.push({ name: decodeForm(name), value: decodeForm(value) });
    if (pair.length > MAX_PARAMETER_LENGTH) await nextTurn();
  }
  return parameters;
}

/** Decodes a name or value as `URLSearchParams` does, which takes much longer for many plus signs. */
function decodeForm(text = ''): string {
  const bytes = Buffer.from(text);
  for (let at = bytes.indexOf(PLUS); at >= 0 && at < bytes.length; at += 1)
    if (bytes[at] === PLUS) bytes[at] = SPACE;
  return unescapePercent(bytes).toString();
}

function tooManyParametersError(): ConversionError {
  return new ConversionError('BAD_PARAMETER', `A body may have at most ${MAX_PARAMETERS} parameters.`);
}

/** Reads the parameters of a body as text. */
async function readAll(content: Readable, check: (chunk: Buffer) => void = () => {}): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    chunks.push(chunk);
    check(chunk);
    if (bytes <= MAX_FIELD_BYTES) continue;
    const message = `The parameters in the body exceed the limit of ${megabytes(MAX_FIELD_BYTES)}. Send a file as multipart/form-data.`;
    throw new ConversionError('BAD_PARAMETER', message);
  }
  return Buffer.concat(chunks).toString();
}

/** Returns the file name of a source, from the path of a PUT or else the content disposition. May be empty. */
function fileNameOf({ method, path, header }: BodyRequest): string {
  if (method === 'PUT') {
    const name = path.replace(/^\/api\/?/, '');
    try {
      return decodeURIComponent(name);
    } catch {
      return name;
    }
  }
  return dispositionName(header('content-disposition')) ?? '';
}

async function* none(): AsyncGenerator<Part> {}

async function* all(first: readonly Part[], others: AsyncIterable<Part> = none()): AsyncGenerator<Part> {
  yield* first;
  yield* others;
}

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
