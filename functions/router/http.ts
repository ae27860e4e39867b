import type { Readable } from 'node:stream';
import { MAX_PARAMETERS } from '../conversion/request.ts';
import type { KeyRecord } from '../platform/keys.ts';
import type { Parameter } from '../shared/options/option.ts';

/** The path whose responses are JSON, and whose POST takes the parameters as JSON. */
export const JSON_PATH = '/api/json';

/** The path of jobs. A POST to it asks for one. */
export const JOBS_PATH = '/api/jobs';

/** Path below which results are served on one machine. */
export const FILES_PATH = '/files/';

/** Whether a request with this method may have a body. Bodies of others are ignored. */
export function takesBody(method: string | undefined): boolean {
  return method === 'POST' || method === 'PUT';
}

/** An HTTP request, from a server or an API Gateway event. */
export interface HttpRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Decoded pairs in query order. */
  readonly query: readonly Parameter[];
  /** The query as it was sent, if known. */
  readonly rawQuery?: string | undefined;
  /** Number of leading pairs whose order is unknown, because the values of each name were passed together. */
  readonly unordered?: number | undefined;
  /** Returns a header by its lower-case name. Repeated headers are joined by commas. */
  header(name: string): string | undefined;
  /** Set if the request has a body and `takesBody`. */
  readonly body?: Readable | undefined;
  /** Set for a member of the site, who needs no API key. */
  readonly member?: KeyRecord | undefined;
  /** Origin of the service, for URLs in the response. */
  readonly origin?: string | undefined;
  /** IP address of the caller. */
  readonly ip?: string | undefined;
}

/**
 * Decodes a query into pairs in their order. Decodes at most one more than the maximum, because the key has not been
 * checked yet.
 */
export function decodeQuery(text: string): Parameter[] {
  return [...new URLSearchParams(text.slice(0, endOf(text)))].map(([name, value]) => ({ name, value }));
}

/** Returns the end of the first pair beyond the maximum, or `undefined` if there is none. */
function endOf(text: string): number | undefined {
  let [start, count] = [0, 0];
  for (;;) {
    const end = text.indexOf('&', start);
    if (end < 0) return undefined;
    if (end > start) count += 1;
    if (count > MAX_PARAMETERS) return end;
    start = end + 1;
  }
}
