import { createHash } from 'node:crypto';
import { networkOf } from '../shared/egress/ip-address.ts';
import { withoutAbsent } from '../shared/without-absent.ts';
import { type KeyRecord, parseRestrictions, type Restrictions, UNRESTRICTED } from './keys.ts';
import type { Attributes, Item, Table } from './table.ts';

/** Owns API keys and, optionally, an email address for signing in. */
export interface Account {
  readonly id: string;
  /** The person who can sign in. Absent for an account that has only keys. */
  readonly email?: string;
  /** Epoch milliseconds. */
  readonly created: number;
  /** Operators see and change all accounts. */
  readonly role?: 'operator';
  /** UTC day of the last conversion on the site, which needs no key. */
  readonly lastUsed?: string;
  /** While this is set, none of its keys, sessions, links and forms work. */
  readonly disabled: boolean;
  /** Apply to all of its keys. */
  readonly restrictions: Restrictions;
  /** Sessions that began before this time have ended. Epoch milliseconds. */
  readonly signedOut: number;
}

/** Properties that can be changed later. */
type AccountChanges = Partial<Pick<Account, 'role' | 'disabled' | 'signedOut' | 'restrictions' | 'lastUsed'>>;

/** One page of search results. */
interface AccountPage {
  readonly accounts: readonly Account[];
  /** Number of matches on all pages. */
  readonly total: number;
}

/** All accounts. An account is created with its first key or by signing up. */
export interface AccountTable {
  /** Adds an account that can sign in, or adds the email address to one that has only keys. */
  add(id: string, email: string): Promise<void>;
  get(id: string): Promise<Account | undefined>;
  /**
   * Changes an account. By the time this returns, every key of a disabled account is refused, and
   * every key has the new restrictions.
   */
  update(id: string, changes: AccountChanges): Promise<void>;
  /** Deletes an account, but not its keys. */
  remove(id: string): Promise<void>;
  /** Finds accounts by a part of their email address or ID, or of the name or ID of a key, newest first. */
  search(text: string, offset: number, limit: number): Promise<AccountPage>;
}

const PREFIX = 'account#';

/** Returns the ID of an account's item. */
export function accountId(account: string): string {
  return PREFIX + account;
}

/** Returns the IDs of the keys of an account, which are attributes of its item with the names of the keys. */
export function keyIdsOf(item: Item | undefined): string[] {
  return Object.keys(item ?? {}).filter((name) => name.startsWith('key_'));
}

/** Returns what each item of a key repeats from the item of its account. */
export function marksOf(item: Item | undefined): Attributes {
  return { ofAccount: item?.restrictions, accountDisabled: item?.disabled || undefined };
}

/**
 * Keeps each account in an item, and marks its keys when it is disabled or restricted. A key that is being added reads
 * the item afterwards; see `createKeys`.
 */
export function createAccounts(table: Table): AccountTable {
  async function markKeys(account: string, set: Attributes): Promise<void> {
    if (Object.keys(set).length === 0) return;
    for (const id of keyIdsOf(await table.get(accountId(account))))
      await table.update(id, { set, when: { hash: 'present' } });
  }

  return {
    async add(id, email) {
      const restrictions = JSON.stringify(UNRESTRICTED);
      await table.update(accountId(id), { set: { email }, defaults: { created: Date.now(), restrictions } });
    },

    async get(id) {
      const item = await table.get(accountId(id));
      return item && accountOf(item);
    },

    async update(id, { restrictions, ...changes }) {
      const text = restrictions && JSON.stringify(restrictions);
      const marks = {
        ...(text && { ofAccount: text }),
        ...('disabled' in changes && { accountDisabled: changes.disabled || undefined }),
      };
      // Marks before the update, so that a failure can be retried, and after it, for keys that were added meanwhile.
      await markKeys(id, marks);
      const set = { ...changes, ...(text && { restrictions: text }) };
      await table.update(accountId(id), { set, when: { id: 'present' } });
      await markKeys(id, marks);
    },

    async remove(id) {
      await table.remove(accountId(id));
    },

    async search(text, offset, limit) {
      const wanted = text.toLowerCase();
      const found: Account[] = [];
      for await (const item of table.list(PREFIX)) {
        const account = accountOf(item);
        const texts = [
          account.id,
          account.email ?? '',
          ...keyIdsOf(item).flatMap((id) => [id, String(item[id])]),
        ];
        if (texts.some((each) => each.toLowerCase().includes(wanted))) found.push(account);
      }
      found.sort((a, b) => b.created - a.created || a.id.localeCompare(b.id));
      return { accounts: found.slice(offset, offset + limit), total: found.length };
    },
  };
}

/** An account as it is stored. */
type Row = Omit<Account, 'disabled' | 'signedOut' | 'restrictions'> &
  Readonly<{ disabled?: boolean; signedOut?: number; restrictions: string }>;

function accountOf(item: Item): Account {
  const { id, email, created, role, lastUsed, disabled, signedOut, restrictions } = item as Row;
  return withoutAbsent({
    id: id.slice(PREFIX.length),
    email,
    created,
    role,
    lastUsed,
    disabled: disabled ?? false,
    signedOut: signedOut ?? 0,
    restrictions: parseRestrictions(restrictions),
  });
}

/** Returns the UTC day on which an account last converted, with a key or on the site. */
export function lastUsedOf(
  account: Pick<Account, 'lastUsed'> | undefined,
  keys: readonly KeyRecord[],
): string | undefined {
  const days = [account, ...keys].flatMap((each) => each?.lastUsed ?? []);
  return days.sort().at(-1);
}

/** The account of all demo conversions together. Each IP address has a sub-account. */
export const DEMO_ACCOUNT = 'demo';

export function isIpAccount(account: string): boolean {
  return /^demo-[0-9a-f]{16}$/.test(account);
}

/** Returns an opaque account for an IP address, also outside demo mode. */
export function accountOfIp(ip = ''): string {
  const hash = createHash('sha256')
    .update(`demo ${networkOf(ip)}`)
    .digest('hex');
  return `${DEMO_ACCOUNT}-${hash.slice(0, 16)}`;
}
