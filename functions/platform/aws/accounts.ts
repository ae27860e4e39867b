import { withoutAbsent } from '../../shared/without-absent.ts';
import type { Account, AccountTable } from '../accounts.ts';
import { parseRestrictions } from '../keys/restrictions.ts';
import { readRestrictions } from './restrictions.ts';
import { assign, type Item, openTable, type TableLocation } from './table.ts';

const PREFIX = 'account#';

/** Returns the ID of an account's item, which also lists the IDs of its keys. */
export function accountItem(account: string): string {
  return PREFIX + account;
}

/**
 * Keeps accounts in the table of the keys. Disabling or restricting an account marks each of its keys, so that finding
 * a key reads only one item. A key that is being added reads the account's item afterwards; see `createDynamoKeys`.
 * Both are rare, so they may scan the table.
 */
export function createDynamoAccounts(location: TableLocation): AccountTable {
  const table = openTable(location);

  /** Changes an item if it exists. */
  async function set(id: string, values: Item): Promise<void> {
    await table.update(id, { ...assign(values), when: 'attribute_exists(id)' });
  }

  /** Marks all keys of an account, including those from earlier versions, which its item does not list. */
  async function markKeys(account: string, marks: Item): Promise<void> {
    const keys = table.scan('attribute_exists(#hash) AND account = :account', {
      names: { '#hash': 'hash' },
      values: { ':account': { S: account } },
      consistent: true,
    });
    for await (const { id } of keys) await set(id!.S!, marks);
  }

  return {
    async add(id, email) {
      await table.update(accountItem(id), {
        expression: 'SET email = :email, created = if_not_exists(created, :now)',
        values: { ':email': { S: email }, ':now': { N: String(Date.now()) } },
      });
    },
    async get(id) {
      const item = await table.get(accountItem(id));
      return item && { ...accountOf(item), restrictions: await readRestrictions(table, item) };
    },
    async update(id, { role, disabled, signedOut, restrictions }) {
      const values = withoutAbsent({
        role: role && { S: role },
        disabled: disabled === undefined ? undefined : { BOOL: disabled },
        signedOut: signedOut === undefined ? undefined : { N: String(signedOut) },
        restrictions: restrictions && { S: JSON.stringify(restrictions) },
      });
      const marks = withoutAbsent({ accountDisabled: values.disabled, ofAccount: values.restrictions });
      const isMarked = Object.keys(marks).length > 0;
      // Marks before the update, so that a failure can be retried, and after it, for keys that were added meanwhile.
      if (isMarked) await markKeys(id, marks);
      await set(accountItem(id), values);
      if (isMarked) await markKeys(id, marks);
    },
    async remove(id) {
      await table.remove(accountItem(id));
    },
    async search(text, offset, limit) {
      const wanted = text.toLowerCase();
      const accounts: Account[] = [];
      const found = new Set<string>();
      const holds = (...texts: ReadonlyArray<string | undefined>) =>
        texts.some((each) => each?.toLowerCase().includes(wanted));
      const items = table.scan('begins_with(id, :prefix) OR attribute_exists(#hash)', {
        names: { '#hash': 'hash' },
        values: { ':prefix': { S: PREFIX } },
      });
      for await (const item of items) {
        if (!item.hash) accounts.push(accountOf(item));
        else if (holds(item.name?.S, item.id?.S)) found.add(item.account!.S!);
      }
      const matching = accounts
        .filter(({ id, email }) => found.has(id) || holds(id, email))
        .sort((a, b) => b.created - a.created || a.id.localeCompare(b.id));
      return { accounts: matching.slice(offset, offset + limit), total: matching.length };
    },
  };
}

function accountOf(item: Item): Account {
  return withoutAbsent({
    id: item.id!.S!.slice(PREFIX.length),
    email: item.email?.S,
    created: Number(item.created?.N ?? 0),
    role: item.role?.S === 'operator' ? 'operator' : undefined,
    disabled: item.disabled?.BOOL ?? false,
    signedOut: Number(item.signedOut?.N ?? 0),
    restrictions: parseRestrictions(item.restrictions?.S),
  }) as Account;
}
