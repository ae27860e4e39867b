import type { StoredResults } from './invoke.ts';

/** Prefix of the object keys of cached results, where these are stored as objects. */
export const CACHE_PREFIX = 'cache/';

/** The result of a conversion, for requests with `_cache`. Its files are those that the conversion stored. */
export interface CachedResult {
  /** Epoch milliseconds. */
  readonly created: number;
  readonly result: StoredResults;
}

/** Caches results of conversions. It may drop any of them. */
export interface ResultCache {
  /** `identity` is a hash of the request, which contains the account. */
  get(account: string, identity: string): Promise<CachedResult | undefined>;
  put(account: string, identity: string, cached: CachedResult): Promise<void>;
}

/** Maximum characters of all cached entries and of one account's. An entry has a few hundred. */
const MAX_SIZE = 16_000_000;
const MAX_ACCOUNT_SIZE = 2_000_000;

/**
 * Keeps results in memory. An account that exceeds its limit loses its least recently used result. If all accounts
 * together exceed the total limit, the account with the most data does.
 */
export function createMemoryCache(max = MAX_SIZE, maxOfAccount = MAX_ACCOUNT_SIZE): ResultCache {
  /** Entries by identity, the least recently used first. */
  const accounts = new Map<string, { readonly texts: Map<string, string>; size: number }>();
  let size = 0;

  function forget(account: string, identity: string): void {
    const own = accounts.get(account);
    const text = own?.texts.get(identity);
    if (!own || text === undefined) return;
    own.texts.delete(identity);
    own.size -= text.length;
    size -= text.length;
    if (own.texts.size === 0) accounts.delete(account);
  }

  function forgetOldest(account: string): void {
    const [oldest = ''] = accounts.get(account)!.texts.keys();
    forget(account, oldest);
  }

  function largest(): string {
    const sizes = [...accounts].map(([account, own]) => ({ account, size: own.size }));
    return sizes.reduce((most, each) => (each.size > most.size ? each : most)).account;
  }

  return {
    async get(account, identity) {
      const found = accounts.get(account)?.texts;
      const text = found?.get(identity);
      if (text === undefined) return undefined;
      found!.delete(identity);
      found!.set(identity, text);
      return JSON.parse(text) as CachedResult;
    },

    async put(account, identity, cached) {
      const text = JSON.stringify(cached);
      forget(account, identity);
      if (text.length > maxOfAccount) return;
      while ((accounts.get(account)?.size ?? 0) + text.length > maxOfAccount) forgetOldest(account);
      while (size + text.length > max) forgetOldest(largest());
      const own = accounts.get(account) ?? { texts: new Map<string, string>(), size: 0 };
      accounts.set(account, own);
      own.texts.set(identity, text);
      own.size += text.length;
      size += text.length;
    },
  };
}
