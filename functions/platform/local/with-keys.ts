import { addChosenApiKey } from '../../shared/find-api-keys.ts';
import { hashApiKey, keyIdOf } from '../keys/api-key.ts';
import type { KeyFinder, KeyRecord } from '../keys/keys.ts';

/** Adds keys that are not stored: the one in the settings, or the one of the self-check. They can have any form, and are kept out of the log. */
export function withKeys(
  keys: KeyFinder,
  others: ReadonlyArray<{ readonly apiKey: string; readonly name: string }>,
): KeyFinder {
  const records = new Map<string, KeyRecord>();
  for (const { apiKey, name } of others) {
    addChosenApiKey(apiKey);
    const hash = hashApiKey(apiKey);
    const account = hash.slice(0, 16);
    records.set(hash, { id: keyIdOf(hash), account, name, created: Date.now(), disabled: false, limits: {} });
  }
  return {
    find: async (apiKey) => records.get(hashApiKey(apiKey)) ?? keys.find(apiKey),
    findSigner: (id) => keys.findSigner(id),
  };
}
