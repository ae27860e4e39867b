import type { KeyFinder, KeyRecord } from '../../shared/keys/keys.ts';
import type { Given } from '../../shared/options/parameters.ts';

/** Where a person gets a key and support; both are part of the response to a missing or wrong key. */
export interface Contact {
  readonly accountUrl: string;
  readonly supportUrl: string;
}

/** Returns the record of the query's key; `undefined` alike for a missing, repeated, wrong, expired, disabled or revoked key. */
export async function checkAccess(query: readonly Given[], keys: KeyFinder): Promise<KeyRecord | undefined> {
  const given = query.filter(({ name }) => name === 'apikey');
  const apiKey = given.length === 1 ? given[0]!.value.trim() : '';
  if (apiKey === '' || apiKey.length > 200) return undefined;
  return keys.find(apiKey);
}
