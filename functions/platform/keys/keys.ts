import type { RateLimits } from '../../shared/rate-limits.ts';

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
  /** Set for a key that can only sign links; see `router/admission/signature.ts`. */
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
