import type { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import type { InvocationResult } from '../platform/invoke/invoke.ts';
import type { Storage } from '../platform/storage.ts';
import { type ConversionError, ERRORS } from '../shared/errors.ts';
import { type NamedOptions, namesWithoutEffect } from '../shared/options/read-options.ts';
import type { Contact } from '../shared/settings/service.ts';

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The body as it is sent, if it is compressed. */
  readonly compressed?: Buffer;
  /** URL of the result that is the body, if the server itself serves results. */
  readonly file?: string;
  /** Content of the result that is the body, if it was read from another server. */
  readonly content?: Readable;
}

/** Headers of text responses. Never `text/html`, because the body can contain the caller's text. */
const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

/** Adds headers to a reply. */
export function withHeaders(reply: HttpReply, headers: Readonly<Record<string, string>>): HttpReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

const compressed = new Map<string, Buffer>();

/** Compresses a reply whose body is one of a few, if the client accepts that. */
export function compressedReply(
  reply: HttpReply,
  { header }: { header(name: string): string | undefined },
): HttpReply {
  const varying = withHeaders(reply, { Vary: 'Accept-Encoding' });
  if (!/\bgzip\b/.test(header('accept-encoding') ?? '')) return varying;
  const bytes = compressed.get(reply.body) ?? gzipSync(reply.body);
  compressed.set(reply.body, bytes);
  return { ...withHeaders(varying, { 'Content-Encoding': 'gzip' }), compressed: bytes };
}

/**
 * Returns the response with the URLs of the results. These exact bytes matter, because clients parse them in several
 * ways.
 */
export async function outputReply(
  request: NamedOptions & { readonly isAuto?: boolean },
  result: Extract<InvocationResult, { readonly ok: true }>,
  storage: Pick<Storage, 'url'>,
): Promise<HttpReply> {
  const urls = await Promise.all(result.objectKeys.map((objectKey) => storage.url(objectKey)));
  const body = urls.map((url) => `[Output] ${url}<br>`).join('');
  return { status: 200, headers: detailHeaders(request, result), body };
}

/** Returns the headers of a successful response. */
export function detailHeaders(
  options: NamedOptions & { readonly isAuto?: boolean },
  { pageCount, settled, sourceKind, warnings }: Extract<InvocationResult, { readonly ok: true }>,
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
export function errorReply({ code, message, status, retryAfter }: ConversionError): HttpReply {
  const headers = {
    ...HEADERS,
    'X-Error-Code': code,
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
  };
  return { status, headers, body: `[ERROR] ${message} (${code})` };
}

/** Returns the response to a missing or invalid key: status 200 and the text that the specification defines. */
export function keyReply(contact: Contact, demoUrl?: string): HttpReply {
  const body = keyText(contact) + (demoUrl === undefined ? '' : `\nDemo result: ${demoUrl}`);
  return { status: 200, headers: HEADERS, body };
}

/** Returns the response to a missing or invalid key for clients that expect a status. */
export function unauthorizedReply(contact: Contact): HttpReply {
  const headers = {
    ...HEADERS,
    'X-Error-Code': 'INVALID_KEY',
    'WWW-Authenticate': 'Bearer realm="docmill", Basic realm="docmill"',
  };
  return { status: ERRORS.INVALID_KEY.status, headers, body: keyText(contact) };
}

function keyText({ accountUrl, supportUrl, canSignUp = true, hasDemo = true }: Contact): string {
  const how = canSignUp
    ? `sign up for an account at ${accountUrl} and read the key on its information page.`
    : `see ${accountUrl}.`;
  const demo = hasDemo ? ' Without a valid key the service works in demo mode.' : '';
  return `[ERROR] Please provide a valid APIKEY. To get one, ${how} Support: ${supportUrl}.${demo}`;
}

/** Returns a JSON response, for endpoints other than conversions. */
export function jsonReply(status: number, value: unknown): HttpReply {
  const headers = { ...HEADERS, 'Content-Type': 'application/json; charset=utf-8' };
  return { status, headers, body: `${JSON.stringify(value, null, 2)}\n` };
}
