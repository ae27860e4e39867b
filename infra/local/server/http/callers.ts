import type { IncomingMessage } from 'node:http';
import { hashApiKey, type KeyFinder } from '../../../../functions/platform/keys.ts';
import { networkOf } from '../../../../functions/shared/egress/ip-address.ts';

/** Tells callers apart before their requests are read. */
export interface Callers {
  /** Finds keys, and remembers valid ones. */
  readonly keys: KeyFinder;
  /** Returns the account of a request whose key was valid before, or else its network. */
  of(request: IncomingMessage, ip: string | undefined): string;
}

/** Maximum number of keys to remember. */
const MAX_KEYS = 10_000;

/** Creates callers that are known by their keys. */
export function createCallers(keys: KeyFinder): Callers {
  const accounts = new Map<string, string>();
  return {
    keys: {
      findSigner: (id) => keys.findSigner(id),
      get: async (id) => keys.get?.(id),
      async find(apiKey) {
        const record = await keys.find(apiKey);
        if (record) accounts.set(hashApiKey(apiKey), record.account);
        if (accounts.size > MAX_KEYS) accounts.delete(accounts.keys().next().value!);
        return record;
      },
    },
    of: (request, ip) => {
      const apiKey = apiKeyOf(request);
      return (apiKey && accounts.get(hashApiKey(apiKey))) ?? networkCaller(ip);
    },
  };
}

/** Returns the caller of a request without a known key. */
export function networkCaller(ip = ''): string {
  return `network ${networkOf(ip)}`;
}

/** Returns what is probably the API key of a request. Only the router decides whether it is. */
function apiKeyOf({ url = '', headers }: IncomingMessage): string | undefined {
  const inQuery = /[?&]apikey=([^&]{1,200})/.exec(url)?.[1];
  return (
    inQuery ??
    [headers['x-api-key']].flat()[0]?.slice(0, 200) ??
    /^bearer +(\S{1,200})$/i.exec(headers.authorization ?? '')?.[1]
  );
}
