import type { RateLimits } from '../../shared/rate-limits.ts';
import type { AccountTable } from '../accounts.ts';
import type { Keys, NewKey } from './keys.ts';
import { namesOf, type Restrictions, restrictionsOf, together, type Writable } from './restrictions.ts';

interface Stores {
  readonly keys: Keys;
  readonly accounts: AccountTable;
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
