import type { HttpReply } from './reply.ts';

interface CorsRequest {
  readonly method: string;
  header(name: string): string | undefined;
}

/** Seconds that a browser caches the response to a preflight request. */
const MAX_AGE = 7200;

/**
 * Returns the headers that let pages of the allowed origins read a response. `*` allows every origin. Cookies have no
 * effect here, so a page can only use credentials that it sends itself.
 */
export function corsHeaders(
  http: CorsRequest,
  allowed: readonly string[] = [],
): Readonly<Record<string, string>> {
  if (allowed.length === 0) return {};
  const origin = http.header('origin') ?? '';
  const vary = { Vary: 'Origin' };
  const isAny = allowed.includes('*');
  if (!isAny && !allowed.includes(origin)) return vary;
  return {
    ...(isAny ? { 'Access-Control-Allow-Origin': '*' } : { ...vary, 'Access-Control-Allow-Origin': origin }),
    'Access-Control-Expose-Headers': '*',
  };
}

/** Returns the response to a browser's preflight request, or `undefined` for other requests. */
export function preflightReply(http: CorsRequest, allowed: readonly string[] = []): HttpReply | undefined {
  if (allowed.length === 0 || http.method !== 'OPTIONS') return undefined;
  const headers = {
    'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE',
    // The asterisk does not include `Authorization`.
    'Access-Control-Allow-Headers': '*, Authorization',
    'Access-Control-Max-Age': String(MAX_AGE),
  };
  return { status: 204, headers, body: '' };
}
