import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { ConversionRequest } from '../conversion/request.ts';
import type { StoredResults } from '../platform/invoke.ts';
import type { Storage } from '../platform/storage.ts';
import { ConversionError, ERRORS } from '../shared/errors.ts';
import { type NamedOptions, namesWithoutEffect } from '../shared/options/read-options.ts';
import { contentTypeOf } from '../shared/output-name.ts';
import type { Contact } from '../shared/settings/service.ts';
import { JSON_PATH } from './http.ts';

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /**
   * Text, which may be compressed, or a result: its content if it was read from another server, or its URL if the server
   * itself serves results.
   */
  readonly body: string | Buffer | Readable | URL;
}

export interface TextReply extends HttpReply {
  readonly body: string;
}

/** Access to the stored results. The signal aborts reading one. */
interface Stored {
  readonly account: string;
  readonly storage: Storage;
  readonly signal: AbortSignal;
}

/** The format of the responses to one request. */
export interface Presentation {
  /** Returns the response to a job that was accepted. */
  job(url: string, description: object): HttpReply;
  output(request: ConversionRequest, result: StoredResults, stored: Stored): Promise<HttpReply>;
  error(error: ConversionError): HttpReply;
  /** Returns the response to a missing or invalid key, with the URL of a demo result. */
  key(contact: Contact, demoUrl?: string): HttpReply;
  /** Whether a missing or invalid key has its own status, because the client does not expect text. */
  readonly hasKeyStatus: boolean;
}

interface PresentedRequest {
  readonly method: string;
  readonly path: string;
  readonly query: readonly { readonly name: string; readonly value: string }[];
  header(name: string): string | undefined;
}

/** Returns the response format of a request: text, unless it asks for JSON or has a `_response`. */
export function presentationOf(http: PresentedRequest, requestId: string): Presentation {
  const hasOtherResponse = http.query.some(({ name, value }) => name === '_response' && value !== 'text');
  const hasKeyStatus = http.method !== 'GET' || hasOtherResponse;
  if (http.path === JSON_PATH || acceptsJson(http.header('accept'))) return json(requestId);
  return {
    output: (request, result, stored) =>
      deliverReply(request, result, stored, () => outputReply(request, result, stored.storage)),
    job: (url) => accepted(url, { status: 202, headers: HEADERS, body: `[Job] ${url}<br>` }),
    error: errorReply,
    key: (contact, url) => (hasKeyStatus ? unauthorizedReply(contact) : keyReply(contact, url)),
    hasKeyStatus,
  };
}

/** Adds where and when to ask for a job. */
function accepted(url: string, reply: HttpReply): HttpReply {
  return withHeaders(reply, { Location: url, 'Retry-After': '1' });
}

/** A media range of JSON in an `Accept` header, with its parameters. */
const JSON_RANGE = /(?:^|,)\s*application\/(?:problem\+)?json\s*(?:;([^,]*))?(?=,|$)/gi;

/** Whether a client names JSON. The `*\/*` of other clients and browsers keeps the text. */
function acceptsJson(accept = ''): boolean {
  for (const [, parameters = ''] of accept.matchAll(JSON_RANGE))
    if (!/(^|;)\s*q\s*=\s*0(\.0*)?\s*$/i.test(parameters)) return true;
  return false;
}

/** Sends the result itself, a redirect to it, or its URL, as `_response` says. */
async function deliverReply(
  request: ConversionRequest,
  result: StoredResults,
  { account, storage, signal }: Stored,
  withUrls: () => Promise<HttpReply>,
): Promise<HttpReply> {
  if (request.response === 'text') return withUrls();
  const objectKey = result.objectKeys[0] ?? '';
  const headers = detailHeaders(request, result);
  if (request.response === 'file' && storage.open) {
    const opened = await storage.open(objectKey, signal);
    if (opened) {
      const { content, ...file } = opened;
      const sent = request.isOnce ? Readable.from(removeOnceSent()) : content;
      return { status: 200, headers: { ...headers, ...file.headers }, body: sent };

      async function* removeOnceSent() {
        yield* content;
        await storage.remove({ account, objectKey });
      }
    }
  }
  const url = await storage.url(objectKey);
  if (request.response === 'file' && !storage.open) return { status: 200, headers, body: new URL(url) };
  return { status: 303, headers: { ...headers, Location: url }, body: '' };
}

/** Returns each mistake that an error describes, with its parameter. */
export function problemsOf(error: ConversionError) {
  return (error.issues ?? [error]).map(({ code, message: detail, parameter, index }) => ({
    code,
    detail,
    ...(parameter !== undefined && { parameter }),
    ...(index !== undefined && { index }),
  }));
}

function json(requestId: string): Presentation {
  const error = (thrown: ConversionError): HttpReply => {
    const { code, message, status } = thrown;
    const text = errorReply(thrown);
    const problem = {
      type: 'about:blank',
      title: ERRORS[code].description,
      status,
      detail: message,
      code,
      errors: problemsOf(thrown),
      requestId,
    };
    const { body } = jsonReply(status, problem);
    return { ...withHeaders(text, { 'Content-Type': 'application/problem+json; charset=utf-8' }), body };
  };
  return {
    output: (request, result, stored) =>
      deliverReply(request, result, stored, async () => {
        const described = await describeResult(request, result, stored.storage);
        const reply = jsonReply(200, { ...described, requestId });
        const { 'Content-Type': _, ...others } = detailHeaders(request, result);
        return withHeaders(reply, others);
      }),
    job: (url, description) => accepted(url, jsonReply(202, description)),
    error,
    key: (contact) => {
      const { headers } = unauthorizedReply(contact);
      const message = `Provide a valid API key. To get one, ${signUpText(contact)}. Support: ${contact.supportUrl}.`;
      const reply = error(new ConversionError('INVALID_KEY', message));
      return withHeaders(reply, { 'WWW-Authenticate': headers['WWW-Authenticate'] ?? '' });
    },
    hasKeyStatus: true,
  };
}

/** Returns the JSON form of a result. */
export async function describeResult(request: ConversionRequest, result: StoredResults, storage: Storage) {
  const { objectKeys, stored: files, pageCount, settled, sourceKind, warnings } = result;
  const { urlLifetime } = storage;
  const expires = result.urls || urlLifetime === undefined ? undefined : expiryAfter(urlLifetime);
  const urls = await urlsOf(result, storage);
  const outputs = objectKeys.map((objectKey, index) => ({
    url: urls[index]!,
    name: objectKey.slice(objectKey.lastIndexOf('/') + 1),
    contentType: contentTypeOf(request),
    ...files?.[index],
    ...(expires !== undefined && { expires }),
  }));
  return {
    outputs,
    ...(pageCount !== undefined && { pageCount }),
    ...(request.isAuto && { app: request.tool.name }),
    ignored: namesWithoutEffect(request, sourceKind),
    ...(settled !== undefined && { settled }),
    ...(warnings?.length && { warnings }),
  };
}

/** Returns the URLs of results, in their order. */
async function urlsOf({ objectKeys, urls }: StoredResults, storage: Pick<Storage, 'url'>) {
  return urls ?? Promise.all(objectKeys.map((objectKey) => storage.url(objectKey)));
}

function expiryAfter(seconds: number): string {
  return new Date(Date.now() + 1000 * seconds).toISOString();
}

/** Headers of text responses. Never `text/html`, because the body can contain the caller's text. */
const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

/** Adds headers to a reply. */
export function withHeaders<Reply extends HttpReply>(
  reply: Reply,
  headers: Readonly<Record<string, string>>,
): Reply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

const compressed = new Map<string, Buffer>();

/** Compresses a reply whose text is one of a few, if the client accepts that. */
export function compressedReply(
  reply: TextReply,
  { header }: { header(name: string): string | undefined },
): HttpReply {
  const varying = withHeaders(reply, { Vary: 'Accept-Encoding' });
  if (!/\bgzip\b/.test(header('accept-encoding') ?? '')) return varying;
  const bytes = compressed.get(reply.body) ?? gzipSync(reply.body);
  compressed.set(reply.body, bytes);
  return { ...withHeaders(varying, { 'Content-Encoding': 'gzip' }), body: bytes };
}

/**
 * Returns the response with the URLs of the results. These exact bytes matter, because clients parse them in several
 * ways.
 */
export async function outputReply(
  request: NamedOptions & { readonly isAuto?: boolean },
  result: StoredResults,
  storage: Pick<Storage, 'url'>,
): Promise<TextReply> {
  const body = (await urlsOf(result, storage)).map((url) => `[Output] ${url}<br>`).join('');
  return { status: 200, headers: detailHeaders(request, result), body };
}

/** Returns the headers of a successful response. */
function detailHeaders(
  options: NamedOptions & { readonly isAuto?: boolean },
  { pageCount, settled, sourceKind, warnings }: StoredResults,
): Readonly<Record<string, string>> {
  const withoutEffect = namesWithoutEffect(options, sourceKind);
  return {
    ...HEADERS,
    ...(options.isAuto ? { 'X-App': options.tool.name } : {}),
    ...(pageCount === undefined ? {} : { 'X-Page-Count': String(pageCount) }),
    ...(settled === false ? { 'X-Settled': 'timeout' } : {}),
    ...(withoutEffect.length === 0 ? {} : { 'X-Ignored-Options': withoutEffect.join(', ') }),
    ...(warnings?.length ? { 'X-Warnings': warnings.join(' ') } : {}),
  };
}

/** Returns the response for an error: one line that ends with the code, which is also in a header. */
export function errorReply({ code, message, status, retryAfter }: ConversionError): TextReply {
  const headers = {
    ...HEADERS,
    'X-Error-Code': code,
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
  };
  return { status, headers, body: `[ERROR] ${message} (${code})` };
}

/** Returns the response to a missing or invalid key: status 200 and the text that the specification defines. */
export function keyReply(contact: Contact, demoUrl?: string): TextReply {
  const body = keyText(contact) + (demoUrl === undefined ? '' : `\nDemo result: ${demoUrl}`);
  return { status: 200, headers: HEADERS, body };
}

/** Returns the response to a missing or invalid key for clients that expect a status. */
function unauthorizedReply(contact: Contact): TextReply {
  const headers = {
    ...HEADERS,
    'X-Error-Code': 'INVALID_KEY',
    'WWW-Authenticate': 'Bearer realm="docmill", Basic realm="docmill"',
  };
  return { status: ERRORS.INVALID_KEY.status, headers, body: keyText(contact) };
}

function keyText(contact: Contact): string {
  const { supportUrl, signUp, hasDemo = true } = contact;
  const key = signUp === 'off' ? '' : ' and read the key on its information page';
  const demo = hasDemo ? ' Without a valid key the service works in demo mode.' : '';
  return `[ERROR] Please provide a valid APIKEY. To get one, ${signUpText(contact)}${key}. Support: ${supportUrl}.${demo}`;
}

function signUpText({ accountUrl, signUp }: Contact): string {
  if (signUp === 'off') return `see ${accountUrl}`;
  return `${signUp === 'invited' ? 'ask for an invitation, ' : ''}sign up for an account at ${accountUrl}`;
}

/** Returns a JSON response, for endpoints other than conversions. */
export function jsonReply(status: number, value: unknown): TextReply {
  const headers = { ...HEADERS, 'Content-Type': 'application/json; charset=utf-8' };
  return { status, headers, body: `${JSON.stringify(value, null, 2)}\n` };
}
