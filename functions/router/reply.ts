import type { InvocationResult } from '../platform/invoke/invoke.ts';
import type { Storage } from '../platform/storage.ts';
import type { ConversionError } from '../shared/errors.ts';
import { ignoredForSource } from '../shared/options/read-options.ts';
import type { Contact } from './accounts/access.ts';
import type { ConversionRequest } from './request.ts';

export interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Never `text/html`, because the body can contain the caller's text. */
const HEADERS = {
  'Content-Type': 'text/plain; charset=utf-8',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'no-store',
};

/** Adds headers to a reply. */
export function withHeaders(reply: HttpReply, headers: Readonly<Record<string, string>>): HttpReply {
  return { ...reply, headers: { ...reply.headers, ...headers } };
}

/** Returns the response with the URLs of the results. Clients parse it in several ways, so these exact bytes matter. */
export async function outputReply(
  { tool, given, ignored }: Pick<ConversionRequest, 'tool' | 'given' | 'ignored'>,
  { objectKeys, pageCount, settled, sourceKind }: Extract<InvocationResult, { readonly ok: true }>,
  storage: Pick<Storage, 'url'>,
): Promise<HttpReply> {
  const urls = await Promise.all(objectKeys.map((objectKey) => storage.url(objectKey)));
  const withoutEffect = new Set([...ignored, ...ignoredForSource(tool, given, sourceKind)]);
  const headers = {
    ...HEADERS,
    ...(pageCount === undefined ? {} : { 'X-Page-Count': String(pageCount) }),
    ...(settled === false ? { 'X-Settled': 'timeout' } : {}),
    ...(withoutEffect.size === 0 ? {} : { 'X-Ignored-Options': [...withoutEffect].join(', ') }),
  };
  return { status: 200, headers, body: urls.map((url) => `[Output] ${url}<br>`).join('') };
}

/** Returns the response for an error: one line with the code at its end and in a header. */
export function errorReply({ code, message, status, retryAfter }: ConversionError): HttpReply {
  const headers = {
    ...HEADERS,
    'X-Error-Code': code,
    ...(retryAfter === undefined ? {} : { 'Retry-After': String(retryAfter) }),
    ...(code === 'METHOD_NOT_ALLOWED' ? { Allow: 'GET' } : {}),
  };
  return { status, headers, body: `[ERROR] ${message} (${code})` };
}

/** Returns the response to a missing or invalid key: status 200 and the text that the specification defines. */
export function keyReply({ accountUrl, supportUrl }: Contact, demoUrl?: string): HttpReply {
  const body =
    '[ERROR] Please provide a valid APIKEY. ' +
    `To get one, sign up for an account at ${accountUrl} and read the key on its information page. ` +
    `Support: ${supportUrl}. Without a valid key the service works in demo mode.` +
    (demoUrl === undefined ? '' : `\nDemo result: ${demoUrl}`);
  return { status: 200, headers: HEADERS, body };
}

/** Returns a JSON response, for the endpoints other than conversions. */
export function jsonReply(status: number, value: unknown): HttpReply {
  const headers = { ...HEADERS, 'Content-Type': 'application/json; charset=utf-8' };
  return { status, headers, body: `${JSON.stringify(value, null, 2)}\n` };
}
