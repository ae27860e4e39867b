import type { Readable } from 'node:stream';
import type { Parameter } from '../shared/options/option.ts';

/** A request as the router reads it, from a server or an event of API Gateway. */
export interface HttpRequest {
  readonly method: string;
  /** Path without the query. */
  readonly path: string;
  /** Decoded pairs in the order of the query. */
  readonly query: readonly Parameter[];
  /** The query as it was sent, where it is known. */
  readonly rawQuery?: string | undefined;
  /** Number of leading pairs whose order is not known, because the values of each name were passed together. */
  readonly unordered?: number | undefined;
  /** Returns a header by its name in lower case; several of them are joined by commas. */
  header(name: string): string | undefined;
  /** Set for methods that send a body. */
  readonly body?: Readable | undefined;
  /** IP address of the caller. */
  readonly ip?: string | undefined;
}
