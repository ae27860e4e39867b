import type { Account, Keys } from '../shared/keys/keys.ts';
import type { Given } from '../shared/options/parameters.ts';

/** Where a person gets a key and support; both stand in the answer to a missing or wrong key. */
export interface Contact {
  readonly accountUrl: string;
  readonly supportUrl: string;
}

/** Answers the owner of the query's key; a missing, repeated, wrong, expired or revoked key alike answers `undefined`. */
export async function checkAccess(query: readonly Given[], keys: Keys): Promise<Account | undefined> {
  const given = query.filter(({ name }) => name === 'apikey');
  const apiKey = given.length === 1 ? given[0]!.value.trim() : '';
  if (apiKey === '' || apiKey.length > 200) return undefined;
  return keys.find(apiKey);
}
