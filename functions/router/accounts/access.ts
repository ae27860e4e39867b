import type { KeyFinder, KeyRecord } from '../../platform/keys/keys.ts';
import type { Given } from '../../shared/options/parameters.ts';

/** Where people get a key and support. Both are part of the response to a missing or invalid key. */
export interface Contact {
  readonly accountUrl: string;
  readonly supportUrl: string;
}

/**
 * Returns the record of the query's key, or `undefined` if the key is missing, repeated, wrong, expired,
 * disabled or revoked.
 */
export async function authenticate(query: readonly Given[], keys: KeyFinder): Promise<KeyRecord | undefined> {
  const given = query.filter(({ name }) => name === 'apikey');
  const apiKey = given.length === 1 ? given[0]!.value.trim() : '';
  if (apiKey === '' || apiKey.length > 200) return undefined;
  return keys.find(apiKey);
}
