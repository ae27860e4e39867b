import { createHash } from 'node:crypto';
import { rm } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { unescape as unescapePercent } from 'node:querystring';
import type { CheckedUrl, EgressGuard } from '../egress/guard.ts';
import { ConversionError, emptySourceError } from '../errors.ts';
import { quote } from '../quote.ts';
import { withTimeout } from '../time.ts';
import type { ConversionLimits, Download, SourceFile } from '../tool.ts';
import { saveBody } from './body.ts';
import { canDecode, type Decode } from './decode-file.ts';
import { mediaTypeIn, sourceName } from './file.ts';
import { HEAD_BYTES, type ReadFacts } from './file-kind.ts';
import { BUDGETS, type DownloadTimeouts, requestSource, unreachableError } from './request.ts';

export interface DownloadOptions {
  /** Directory that the file is written to, as `source`. */
  readonly directory: string;
  readonly egress: EgressGuard;
  readonly limits: Pick<ConversionLimits, 'sourceBytes'>;
  readonly signal: AbortSignal;
  /** The account that the download is for. Name lookups are limited per account. */
  readonly account?: string;
  readonly budgets?: Partial<DownloadTimeouts>;
  /** Decodes sources that are sent compressed. Without it, they are rejected. */
  readonly decode?: Decode;
}

const REDIRECTS = 5;

/** Returns a function that downloads sources through this egress guard. */
export function createDownload(egress: EgressGuard, decode?: Decode): Download {
  return (url, options) => downloadSource(url, { ...options, egress, ...(decode && { decode }) });
}

/**
 * Downloads a source to disk through the egress guard, which checks the URL of every redirect too.
 * @throws ConversionError `BAD_ADDRESS`, `BLOCKED_ADDRESS`, `SOURCE_STATUS`, `SOURCE_UNREACHABLE`, `SOURCE_TIMEOUT`,
 * `SOURCE_TOO_LARGE`, `CORRUPT_SOURCE`.
 */
export async function downloadSource(url: string | URL, options: DownloadOptions): Promise<SourceFile> {
  const budgets = { ...BUDGETS, ...options.budgets };
  const follow = async (signal: AbortSignal) => {
    const following = { ...options, signal, budgets };
    const { response, checked } = await followRedirects(url, 'GET', following);
    return save(response, checked, following);
  };
  return withTimeout(budgets.whole, options.signal, follow, () => downloadTimeoutError(budgets.whole));
}

/**
 * Requests the validators of a source and returns a hash of them, or `undefined` if it has none or the request fails.
 */
export type ReadValidators = (
  url: string,
  options: { readonly signal: AbortSignal; readonly account: string },
) => Promise<string | undefined>;

/** Timeout of the request in milliseconds. */
const VALIDATORS_TIME = 5000;

/** Returns a function that sends a HEAD request through the egress guard. */
export function createReadValidators(egress: EgressGuard): ReadValidators {
  return async (url, { signal, account }) => {
    const read = async (stop: AbortSignal) => {
      const following = { egress, account, signal: stop, budgets: BUDGETS };
      const { response } = await followRedirects(url, 'HEAD', following);
      response.destroy();
      const { etag, 'last-modified': modified, 'content-length': length } = response.headers;
      if (response.statusCode !== 200 || (!etag && !modified)) return undefined;
      const facts = JSON.stringify([etag, modified, length]);
      return createHash('sha256').update(facts).digest('hex');
    };
    return withTimeout(VALIDATORS_TIME, signal, read).catch(() => {
      signal.throwIfAborted();
      return undefined;
    });
  };
}

/** Timeout for the first bytes of a source in milliseconds. */
const FACTS_TIME = 15_000;

/** Returns a function that reads the beginning of a source through the egress guard, and closes the connection. */
export function createReadFacts(egress: EgressGuard): ReadFacts {
  return (url, { signal, account }) => {
    const read = async (stop: AbortSignal) => {
      const following = { egress, account, signal: stop, budgets: BUDGETS };
      const { response, checked } = await followRedirects(url, 'GET', following);
      const contentType = mediaTypeIn(response.headers['content-type']);
      try {
        // The tool decides about pages with an error status.
        if (contentType !== 'text/html') checkStatus(response);
        const isCompressed = encodingsOf(response.headers).length > 0;
        const head = isCompressed ? '' : await readHead(response);
        return { head, name: sourceName(response.headers, checked.url), contentType };
      } catch (thrown) {
        stop.throwIfAborted();
        throw unreachableError(thrown);
      } finally {
        response.destroy();
      }
    };
    return withTimeout(FACTS_TIME, signal, read, () => downloadTimeoutError(FACTS_TIME));
  };
}

async function readHead(response: IncomingMessage): Promise<string> {
  let head = '';
  for await (const chunk of response as AsyncIterable<Buffer>) {
    head += chunk.toString('latin1', 0, HEAD_BYTES - head.length);
    if (head.length >= HEAD_BYTES) break;
  }
  if (head === '') throw emptySourceError();
  return head;
}

/** @throws ConversionError `SOURCE_STATUS`. A partial response (206) was not requested and is not the whole file. */
function checkStatus({ statusCode: status = 0 }: IncomingMessage): void {
  if (status >= 200 && status <= 299 && status !== 206) return;
  throw new ConversionError('SOURCE_STATUS', `The source server returned status ${status}.`);
}

type RedirectOptions = Pick<DownloadOptions, 'egress' | 'signal' | 'account'> & {
  readonly budgets: DownloadTimeouts;
};

async function followRedirects(
  url: string | URL,
  method: 'GET' | 'HEAD',
  options: RedirectOptions,
): Promise<{ response: IncomingMessage; checked: CheckedUrl }> {
  const { egress, signal, budgets, account = '' } = options;
  const requester = { account, signal };
  let checked = await egress.check(url, requester);
  const origin = checked.url.origin;
  const authorization = basicAuthorization(checked.url);

  for (let redirects = 0; ; redirects++) {
    signal.throwIfAborted();
    const sent = checked.url.origin === origin ? authorization : undefined;
    const response = await requestSource(checked, { method, authorization: sent, budgets, signal, account });
    const status = response.statusCode ?? 0;
    const target = response.headers.location;
    if (status < 300 || status > 399 || target === undefined) return { response, checked };

    response.destroy();
    if (redirects === REDIRECTS) {
      throw new ConversionError('SOURCE_UNREACHABLE', `The source redirects more than ${REDIRECTS} times.`);
    }
    checked = await egress.check(resolveTarget(target, checked.url), requester);
  }
}

async function save(
  response: IncomingMessage,
  { url }: CheckedUrl,
  { directory, limits, budgets, signal, decode, account = '' }: RedirectOptions & DownloadOptions,
): Promise<SourceFile> {
  try {
    checkStatus(response);
  } catch (thrown) {
    response.destroy();
    throw thrown;
  }
  const encodings = encodingsOf(response.headers);
  if (encodings.length > 0 && !(decode && canDecode(encodings))) {
    response.destroy();
    const header = quote(String(response.headers['content-encoding']));
    throw new ConversionError(
      'UNSUPPORTED_SOURCE',
      `The server sent the source with the unsupported content encoding ${header}.`,
    );
  }
  const path = join(directory, 'source');
  const limit = limits.sourceBytes;
  const saved = encodings.length > 0 ? `${path}.encoded` : path;
  let bytes = await saveBody(response, { path: saved, limit, idle: budgets.idle, signal });
  if (encodings.length > 0 && decode) {
    bytes = await decode({ path: saved, target: path, encodings, limit }, { account, signal, directory });
    await rm(saved);
  }
  if (bytes === 0) throw emptySourceError();
  return {
    path,
    name: sourceName(response.headers, url),
    contentType: mediaTypeIn(response.headers['content-type']),
    bytes,
  };
}

function encodingsOf(headers: IncomingHttpHeaders): string[] {
  return (headers['content-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .map((encoding) => encoding.trim())
    .filter((encoding) => encoding !== '' && encoding !== 'identity');
}

/** Resolves the target of a redirect. Headers are bytes, and servers send UTF-8 in them. */
function resolveTarget(target: string, from: URL): string {
  const text = Buffer.from(target, 'latin1').toString('utf8');
  const url = URL.parse(text, from.href);
  if (!url) throw new ConversionError('SOURCE_UNREACHABLE', 'The source redirects to an invalid URL.');
  url.username = '';
  url.password = '';
  return url.href;
}

function basicAuthorization({ username, password }: URL): string | undefined {
  if (!username && !password) return undefined;
  const pair = `${unescapePercent(username)}:${unescapePercent(password)}`;
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

/** Returns the error of a download that took longer than `time` milliseconds. */
export function downloadTimeoutError(time: number): ConversionError {
  const seconds = Math.round(time / 1000);
  return new ConversionError('SOURCE_TIMEOUT', `Timed out after ${seconds} s while downloading the source.`);
}
