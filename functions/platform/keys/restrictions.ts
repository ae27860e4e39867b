import type { RateLimits } from '../../shared/rate-limits.ts';
import type { AccountTable } from '../accounts.ts';
import type { KeyRecord, Keys, NewKey } from './keys.ts';

/** Restrict what an account may do. Its keys can only narrow this. */
export interface Restrictions {
  readonly limits: RateLimits;
  /** Names of the tools that may be used. All tools if absent. */
  readonly tools?: readonly string[];
  /** Epoch milliseconds after which no key is valid. */
  readonly expires?: number;
}

interface Stores {
  readonly keys: Keys;
  readonly accounts: AccountTable;
}

export const UNRESTRICTED: Restrictions = { limits: {} };

/** Copies only the restrictions of a key or account. */
export function restrictionsOf({ limits, tools, expires }: Restrictions): Restrictions {
  return { limits, ...(tools && { tools }), ...(expires !== undefined && { expires }) };
}

/** Reads stored restrictions. */
export function parseRestrictions(text: string | null | undefined): Restrictions {
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

/**
 * Creates a key for an operator. An account that gets its first key gets the restrictions of that key, and an existing
 * account is allowed whatever the operator gives its new key explicitly.
 */
export async function createByOperator<Created>(
  stores: Stores,
  key: NewKey,
  create: (key: NewKey) => Promise<Created>,
): Promise<Created> {
  const account = key.account === undefined ? undefined : await stores.accounts.get(key.account);
  if (account) {
    const restrictions = widen(account.restrictions, key);
    if (JSON.stringify(restrictions) !== JSON.stringify(account.restrictions))
      await stores.accounts.update(account.id, { restrictions });
  }
  const created = await create(key);
  if (account) await settle(stores, account.id);
  return created;
}

/**
 * Restricts an account to what its keys may still do together. Call it after an operator has created, disabled or
 * revoked one of them, so that a member cannot create a key that can do more than those that the operator has left.
 */
export async function settle({ keys, accounts }: Stores, account: string): Promise<void> {
  const before = (await accounts.get(account))?.restrictions;
  const enabled = (await keys.listOf(account)).filter(({ disabled, replaced }) => !disabled && !replaced);
  if (!before || enabled.length === 0) return;
  const { tools, expires } = together(enabled);
  if (!tools && expires === undefined) return;
  const restrictions = restrictionsOf({
    ...before,
    ...(tools && { tools }),
    ...(expires !== undefined && { expires }),
  });
  if (JSON.stringify(restrictions) === JSON.stringify(before)) return;
  await accounts.update(account, { restrictions });
}

/**
 * Sets the restrictions of an account. Calls are counted per account, so no key keeps rate limits of its own.
 */
export async function restrict(
  { keys, accounts }: Stores,
  account: string,
  restrictions: Restrictions,
): Promise<void> {
  await accounts.update(account, { restrictions });
  for (const { id } of await keys.listOf(account)) await keys.update(id, { limits: {} });
}

function widen(before: Restrictions, key: NewKey): Restrictions {
  const limits: Writable<RateLimits> = { ...before.limits };
  for (const name of namesOf(limits)) limits[name] = Math.max(limits[name]!, key.limits?.[name] ?? 0);
  const { tools, expires } = before;
  return restrictionsOf({
    limits,
    ...(tools && { tools: [...new Set([...tools, ...(key.tools ?? [])])] }),
    ...(expires !== undefined && { expires: Math.max(expires, key.expires ?? 0) }),
  });
}

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

function namesOf(limits: RateLimits): Array<keyof RateLimits> {
  return Object.keys(limits) as Array<keyof RateLimits>;
}
