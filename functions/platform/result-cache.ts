import type { InvocationResult } from './invoke/invoke.ts';

/** Prefix of the object keys of cached results, where these are stored as objects. */
export const CACHE_PREFIX = 'cache/';

/** The result of a conversion, for requests with `_cache`. Its files are those that the conversion stored. */
export interface CachedResult {
  /** Epoch milliseconds. */
  readonly created: number;
  readonly result: Extract<InvocationResult, { readonly ok: true }>;
}

/** Caches results of conversions. It may drop any of them. */
export interface ResultCache {
  /** `identity` is a hash of the request, which contains the account. */
  get(account: string, identity: string): Promise<CachedResult | undefined>;
  put(account: string, identity: string, cached: CachedResult): Promise<void>;
}
