import { createHash, randomBytes } from 'node:crypto';
import { addChosenApiKey } from '../shared/log.ts';
import type { RateLimits } from '../shared/settings/service.ts';

/**
 * Everything stored about an API key, except its hash. `expires`, `tools` and `limits` are narrowed to those of the
 * account.
 */
export interface KeyRecord {
  /** Public name of the key, safe to log: `key_` and ten letters and digits. */
  readonly id: string;
  /** Opaque name of the owner. Limits and usage are counted per account, over all of its keys. */
  readonly account: string;
  readonly name: string;
  /** Epoch milliseconds. */
  readonly created: number;
  /** UTC day of the last call, `2026-11-21`. */
  readonly lastUsed?: string;
  /** Epoch milliseconds. */
  readonly expires?: number;
  readonly disabled: boolean;
  /** Set for a key that was rotated, whose end is not a restriction. */
  readonly replaced?: true;
  /** Set while the account is disabled, which disables all of its keys. */
  readonly accountDisabled?: true;
  /** Set for a key that can only sign links; see `router/admission/authenticate.ts`. */
  readonly kind?: 'signing';
  /** Names of the tools that the key may use. All tools if absent. */
  readonly tools?: readonly string[];
  readonly limits: RateLimits;
}

/** Properties of a new key that an operator chooses. */
export interface NewKey {
  readonly name: string;
  /** The account that the key is added to. A new account is created if absent. */
  readonly account?: string;
  /** Whether the key can only sign links. */
  readonly kind?: 'signing' | undefined;
  /** Epoch milliseconds. */
  readonly expires?: number;
  readonly tools?: readonly string[];
  readonly limits?: RateLimits;
}

/** Properties that can be changed later. `undefined` removes a value. */
interface KeyChanges {
  readonly expires?: number | undefined;
  readonly disabled?: boolean;
  readonly replaced?: true;
  readonly limits?: RateLimits;
}

/** A valid key that signs links. */
interface Signer {
  readonly record: KeyRecord;
  /**
   * The secret of its signatures: the stored hash of the key. So anyone who reads the key table can sign links for
   * the accounts that have such a key until it is revoked. They can do nothing else, because the hash is not an API
   * key.
   */
  readonly secret: string;
}

/** Finds the owner of an API key. */
export interface KeyFinder {
  /**
   * Returns the record of a valid key, or `undefined` for a key that is wrong, expired, disabled, revoked or can only
   * sign.
   */
  find(apiKey: string): Promise<KeyRecord | undefined>;
  /** Returns a valid signing key by its ID, or `undefined` for any other. */
  findSigner(id: string): Promise<Signer | undefined>;
  /** Returns the record of a key by its ID, whether or not it is valid. Absent if the router finds keys only by themselves. */
  get?(id: string): Promise<KeyRecord | undefined>;
}

/** The key table. Only hashes are stored, so a key can be read only once: when it is created. */
export interface Keys extends KeyFinder {
  create(key: NewKey): Promise<{ readonly apiKey: string; readonly record: KeyRecord }>;
  /** Adds a key that its owner already has, by its `hashApiKey`. Returns `undefined` if the key exists. */
  add(hash: string, key: NewKey): Promise<KeyRecord | undefined>;
  /** Returns all keys, including expired and disabled ones, oldest first. */
  list(): Promise<KeyRecord[]>;
  /** Returns the keys of one account, oldest first, without reading others. */
  listOf(account: string): Promise<KeyRecord[]>;
  get(id: string): Promise<KeyRecord | undefined>;
  /** Returns the changed record, or `undefined` if there is no such key. */
  update(id: string, changes: KeyChanges): Promise<KeyRecord | undefined>;
  /** Deletes a key and returns whether it existed. */
  revoke(id: string): Promise<boolean>;
}

/**
 * Creates another key for the same account with the same rights. The old one expires after `overlap` milliseconds.
 * Returns `undefined` if there is no such key or it is not valid.
 */
export async function rotateKey(keys: Keys, id: string, overlap: number) {
  const old = await keys.get(id);
  if (!old || !isValid(old)) return undefined;
  const { name, account, kind, tools, limits, expires } = old;
  const created = await keys.create({
    name,
    account,
    limits,
    ...(kind && { kind }),
    ...(tools && { tools }),
    ...(expires !== undefined && { expires }),
  });
  const end = Date.now() + overlap;
  await keys.update(id, { expires: Math.min(end, expires ?? end), replaced: true });
  return created;
}

/** Whether a key may be used now. */
export function isValid({ disabled, accountDisabled, expires }: KeyRecord): boolean {
  return !disabled && !accountDisabled && (expires === undefined || expires > Date.now());
}

/** Restrict what an account may do. Its keys can only narrow this. */
export interface Restrictions {
  readonly limits: RateLimits;
  /** Names of the tools that may be used. All tools if absent. */
  readonly tools?: readonly string[];
  /** Epoch milliseconds after which no key is valid. */
  readonly expires?: number;
}

export const UNRESTRICTED: Restrictions = { limits: {} };

/** Copies only the restrictions of a key or account. */
export function restrictionsOf({ limits, tools, expires }: Restrictions): Restrictions {
  return { limits, ...(tools && { tools }), ...(expires !== undefined && { expires }) };
}

/** Reads stored restrictions. */
export function parseRestrictions(text: string | undefined): Restrictions {
  return text ? (JSON.parse(text) as Restrictions) : UNRESTRICTED;
}

/** Returns what a key may do whose account has restrictions, too: only what both allow. */
export function narrow(own: Restrictions, account: Restrictions): Restrictions {
  const limits = { ...account.limits, ...own.limits };
  for (const name of namesOf(limits))
    limits[name] = Math.min(account.limits[name] ?? Infinity, own.limits[name] ?? Infinity);
  const tools =
    own.tools && account.tools
      ? own.tools.filter((tool) => account.tools!.includes(tool))
      : (own.tools ?? account.tools);
  const ends = [own.expires, account.expires].filter((end) => end !== undefined);
  return restrictionsOf({
    limits,
    ...(tools && { tools }),
    ...(ends.length > 0 && { expires: Math.min(...ends) }),
  });
}

/**
 * Returns what keys that are not disabled may do together, including expired ones. If all are disabled, those count.
 * `limits` are those of the oldest key.
 */
export function together(keys: ReadonlyArray<Restrictions & Pick<KeyRecord, 'disabled'>>): Restrictions {
  const enabled = keys.filter(({ disabled }) => !disabled);
  const counted = enabled.length > 0 ? enabled : keys;
  if (counted.length === 0) return UNRESTRICTED;
  const tools = counted.every((key) => key.tools) && [...new Set(counted.flatMap((key) => key.tools!))];
  const ends = counted.map(({ expires = Infinity }) => expires);
  const last = Math.max(...ends);
  return { limits: keys[0]!.limits, ...(tools && { tools }), ...(last < Infinity && { expires: last }) };
}

export type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Returns the names of the limits that are set. */
export function namesOf(limits: RateLimits): Array<keyof RateLimits> {
  return Object.keys(limits) as Array<keyof RateLimits>;
}

/** Crockford's base 32, which has no I, L, O and U, so that a key can be read aloud. */
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Creates an API key: 128 random bits and a 12-bit checksum, as four groups of seven letters and digits. */
export function createApiKey(): string {
  return format(randomBytes(16).toString('hex'));
}

/**
 * Returns the 64 hexadecimal digits that are stored instead of a key. A slow hash is unnecessary for 128 random bits.
 */
export function hashApiKey(apiKey: string): string {
  return createHash('sha256').update(apiKey).digest('hex');
}

/** Returns the public ID of a key: `key_` and the first 50 bits of its hash, so a key can also be found by its ID. */
export function keyIdOf(hash: string): string {
  const value = BigInt(`0x${hash.slice(0, 13)}`) >> 2n;
  const digits = Array.from(
    { length: 10 },
    (_, place) => ALPHABET[Number((value >> BigInt(45 - 5 * place)) & 31n)],
  );
  return `key_${digits.join('')}`;
}

function format(random: string): string {
  const checksum = createHash('sha256').update(`api key ${random}`).digest('hex').slice(0, 3);
  const value = BigInt(`0x${random}${checksum}`);
  const digits = Array.from(
    { length: 28 },
    (_, place) => ALPHABET[Number((value >> BigInt(135 - 5 * place)) & 31n)],
  );
  return digits.join('').match(/.{7}/g)!.join('-');
}

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
    get: async (id) => [...records.values()].find((record) => record.id === id) ?? keys.get?.(id),
  };
}
