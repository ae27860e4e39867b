import type { AccountTable } from '../../platform/accounts.ts';
import {
  type KeyRecord,
  type Keys,
  type NewKey,
  namesOf,
  type Restrictions,
  restrictionsOf,
  rotateKey,
  together,
  type Writable,
} from '../../platform/keys.ts';
import type { AuditLog } from '../../platform/stores.ts';
import type { RateLimits } from '../../shared/settings/service.ts';
import { LOCAL_OPERATOR, type Members } from '../accounts/members.ts';

interface Dependencies {
  readonly accounts: AccountTable;
  readonly keys: Keys;
  readonly audit: AuditLog;
  readonly members: Members;
}

/** Who acts: an email address with an IP address, or a user of this machine on the command line. */
interface Actor {
  readonly actor: string;
  readonly from: string;
}

/** Restrictions to set. Those that are absent stay, and `null` lifts one. */
export interface RestrictionChanges {
  readonly limits?: { readonly [Name in keyof RateLimits]: number | null };
  readonly tools?: readonly string[] | null | undefined;
  readonly expires?: number | null | undefined;
}

/**
 * Creates the actions of operators, on the site and on the command line. Each action is appended to the audit log before it changes
 * anything, even if the account or key turns out not to exist.
 */
export function createOperations({ accounts, keys, audit, members }: Dependencies, by: Actor) {
  const stores = { keys, accounts };
  const log = (action: string, subject: string, details = '') =>
    audit.append({ ...by, action, subject, details });
  const switchKey = async (id: string, disabled: boolean): Promise<KeyRecord | undefined> => {
    await log(disabled ? 'disable key' : 'enable key', id);
    const record = await keys.update(id, { disabled });
    if (record && disabled) await settle(stores, record.account);
    return record;
  };
  const switchAccount = async (
    action: string,
    account: string,
    changes: Parameters<AccountTable['update']>[1],
  ): Promise<boolean> => {
    await log(action, account);
    if (!(await accounts.get(account))) return false;
    await accounts.update(account, changes);
    return true;
  };

  return {
    /** Creates a key. One without an account, or with the ID of a new one, creates the account. */
    async createKey(key: NewKey, action = 'create key') {
      await log(action, key.account ?? 'new account', [key.name, ...limitTexts(key.limits)].join(' '));
      return createByOperator(stores, key, keys.create);
    },
    /** Adds a key by its hash. Returns `undefined` if it already exists. */
    async importKey(hash: string, key: NewKey) {
      await log('import key', key.account ?? 'new account', key.name);
      return createByOperator(stores, key, (each) => keys.add(hash, each));
    },
    disableKey: (id: string) => switchKey(id, true),
    enableKey: (id: string) => switchKey(id, false),
    /** Creates a successor. Returns `undefined` if there is no valid key with this ID. */
    async rotateKey(id: string, overlap: number) {
      await log('rotate key', id);
      return rotateKey(keys, id, overlap);
    },
    /** Returns whether there was a key with this ID. */
    async revokeKey(id: string): Promise<boolean> {
      await log('revoke key', id);
      const record = await keys.get(id);
      if (!record || !(await keys.revoke(id))) return false;
      await settle(stores, record.account);
      return true;
    },
    /** Changes what an account may do. `subject` is the ID of the account, or of one of its keys. */
    async restrict(account: string, changes: RestrictionChanges, subject = account): Promise<Restrictions> {
      const { limits, tools, expires } = changes;
      const words = Object.entries({ tools, expires }).flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}=${value ?? 'default'}`],
      );
      await log('change limits', subject, [...limitTexts(limits), ...words].join(' '));
      const before = (await accounts.get(account))?.restrictions ?? { limits: {} };
      const restrictions = changed(before, changes);
      await restrict(stores, account, restrictions);
      return restrictions;
    },
    /** Refuses all keys and sessions of an account. Returns whether it exists. */
    disableAccount: (account: string) =>
      switchAccount('disable account', account, { disabled: true, signedOut: Date.now() }),
    enableAccount: (account: string) => switchAccount('enable account', account, { disabled: false }),
    async signOut(account: string): Promise<void> {
      await log('sign out', account);
      await members.signOutEverywhere({ account });
    },
    /** Returns the token of a link that makes whoever uses it a member. */
    async invite(email: string): Promise<string> {
      await log('invite', email);
      return members.invite(email);
    },
    /** Returns the token of a link that makes whoever uses it an operator. Only for the command line. */
    async inviteOperator(email: string = LOCAL_OPERATOR): Promise<string> {
      await log('invite operator', email);
      return members.inviteOperator(email);
    },
    /** Records that everything about an account is going to be erased. */
    logErased: (account: string) => log('erase account', account),
    /** Records what an account may do with a bucket from now on. */
    logBucket: (account: string, details: string) => log('name bucket', account, details),
    /** Records that a link was signed with a key. */
    logSigned: (id: string) => log('sign link', id),
    /** Records that the secret of an account's webhooks was read or replaced. */
    logSecret: (account: string, isNew: boolean) =>
      log(`${isNew ? 'rotate' : 'read'} webhook secret`, account),
  };
}

export type Operations = ReturnType<typeof createOperations>;

function changed(
  before: Restrictions,
  { limits, tools = before.tools, expires = before.expires }: RestrictionChanges,
): Restrictions {
  const all = Object.entries({ ...before.limits, ...limits }).filter(([, limit]) => limit !== null);
  return restrictionsOf({
    limits: Object.fromEntries(all),
    ...(tools && { tools }),
    ...(expires != null && { expires }),
  });
}

function limitTexts(limits: RestrictionChanges['limits'] = {}): string[] {
  return Object.entries(limits).map(([name, limit]) => `${name}=${limit ?? 'default'}`);
}

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
