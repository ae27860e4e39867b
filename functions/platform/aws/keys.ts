import { randomUUID, timingSafeEqual } from 'node:crypto';
import { dayOf } from '../../shared/dates.ts';
import { withoutAbsent } from '../../shared/without-absent.ts';
import { createApiKey, hashApiKey, keyIdOf } from '../keys/api-key.ts';
import { isValid, type KeyRecord, type Keys } from '../keys/keys.ts';
import { narrow, parseRestrictions, restrictionsOf } from '../keys/restrictions.ts';
import { accountItem } from './accounts.ts';
import { ownRestrictions, readRestrictions } from './restrictions.ts';
import { assign, type Item, openTable, type TableLocation, type Update } from './table.ts';

/**
 * Keeps keys in a DynamoDB table whose partition key `id` is the key's id. `expires` is in epoch seconds, because it is
 * the table's time-to-live attribute.
 */
export function createDynamoKeys(location: TableLocation): Keys {
  const table = openTable(location);

  async function readItem(id: string): Promise<Item | undefined> {
    const item = await table.get(id);
    // The table also contains limits and usage.
    return item?.hash && item;
  }

  async function list(): Promise<Item[]> {
    const names = { '#hash': 'hash' };
    const items: Item[] = [];
    for await (const item of table.scan('attribute_exists(#hash)', { names, consistent: true }))
      items.push(item);
    return items;
  }

  /** Changes a key if it exists. */
  async function update(id: string, changes: Update): Promise<KeyRecord | undefined> {
    const item = await table.update(id, { ...changes, when: 'attribute_exists(id)' });
    return item && recordOf(item);
  }

  const add: Keys['add'] = async (
    hash,
    { name, account = randomUUID(), kind, expires, tools, limits = {} },
  ) => {
    const item: Item = {
      id: { S: keyIdOf(hash) },
      hash: { S: hash },
      account: { S: account },
      name: { S: name },
      created: { S: new Date().toISOString() },
      disabled: { BOOL: false },
      limits: { S: JSON.stringify(limits) },
      ...(expires !== undefined && { expires: secondsOf(expires) }),
      ...(kind && { kind: { S: kind } }),
      ...(tools && { tools: { S: tools.join(',') } }),
    };
    if (await readItem(keyIdOf(hash))) return undefined;
    const before = await table.get(accountItem(account));
    const ofAccount = before
      ? await readRestrictions(table, before)
      : restrictionsOf({ limits, ...(tools && { tools }), ...(expires !== undefined && { expires }) });
    // The limits of the first key become those of the account.
    if (!before) item.limits = { S: '{}' };
    item.ofAccount = { S: JSON.stringify(ofAccount) };
    // Comes first, so that a concurrent change of the account finds the key.
    await join(account, keyIdOf(hash), item.ofAccount);
    if (!(await table.put(item, { when: 'attribute_not_exists(id)' }))) return undefined;
    // The account may have changed before the key existed. If it changes later, that finds the key.
    const after = await table.get(accountItem(account));
    const isDisabled = after?.disabled?.BOOL ?? false;
    const restrictions = after?.restrictions ?? item.ofAccount;
    if (!isDisabled && restrictions.S === item.ofAccount.S) return recordOf(item);
    return update(
      keyIdOf(hash),
      assign({ ofAccount: restrictions, ...(isDisabled && { accountDisabled: { BOOL: true } }) }),
    );
  };

  /** Adds a key to its account's item, which is created if necessary. */
  async function join(account: string, keyId: string, restrictions?: Item[string]): Promise<void> {
    const restricts = restrictions && ', restrictions = if_not_exists(restrictions, :restrictions)';
    await table.update(accountItem(account), {
      expression: `ADD keyIds :id SET created = if_not_exists(created, :now)${restricts ?? ''}`,
      values: {
        ':id': { SS: [keyId] },
        ':now': { N: String(Date.now()) },
        ...(restrictions && { ':restrictions': restrictions }),
      },
    });
  }

  async function keyIdsOf(account: string): Promise<readonly string[]> {
    return (await table.get(accountItem(account)))?.keyIds?.SS ?? [];
  }

  async function readAll(ids: readonly string[]): Promise<KeyRecord[]> {
    const items = await Promise.all(ids.map(readItem));
    return items.flatMap((item) => (item ? [recordOf(item)] : [])).sort(byAge);
  }

  async function markUsed({ id, lastUsed }: KeyRecord): Promise<void> {
    if (lastUsed === dayOf()) return;
    await update(id, assign({ lastUsed: { S: dayOf() } }));
  }

  return {
    add,

    async find(apiKey) {
      const hash = hashApiKey(apiKey);
      const item = await readItem(keyIdOf(hash));
      if (!item || !sameText(item.hash!.S!, hash)) return undefined;
      const record = recordOf(item);
      // DynamoDB deletes expired items within days, not immediately.
      if (!isValid(record) || record.kind) return undefined;
      await markUsed(record);
      return record;
    },

    async findSigner(id) {
      const item = await readItem(id);
      const record = item && recordOf(item);
      if (!record || !isValid(record) || record.kind !== 'signing') return undefined;
      await markUsed(record);
      return { record, secret: item.hash!.S! };
    },

    async create(key) {
      const apiKey = createApiKey();
      return { apiKey, record: (await add(hashApiKey(apiKey), key))! };
    },

    async list() {
      const items = await list();
      // Earlier versions did not list keys in the item of their account.
      const accounts = Map.groupBy(items, ({ account }) => account!.S!);
      for (const [account, own] of accounts) {
        const listed = new Set(await keyIdsOf(account));
        for (const { id } of own) if (!listed.has(id!.S!)) await join(account, id!.S!);
      }
      return items.map(recordOf).sort(byAge);
    },

    async listOf(account) {
      return readAll(await keyIdsOf(account));
    },

    async get(id) {
      const item = await readItem(id);
      return item && recordOf(item);
    },

    async update(id, changes) {
      const item = await readItem(id);
      if (!item) return undefined;
      const { disabled, limits, replaced } = changes;
      const sets: Item = withoutAbsent({
        disabled: disabled === undefined ? undefined : { BOOL: disabled },
        replaced: replaced && { BOOL: replaced },
        limits: limits && { S: JSON.stringify(limits) },
        expires: changes.expires === undefined ? undefined : secondsOf(changes.expires),
      });
      const removesExpiry = 'expires' in changes && changes.expires === undefined;
      if (Object.keys(sets).length === 0 && !removesExpiry) return recordOf(item);
      return update(id, assign(sets, removesExpiry ? ['expires'] : []));
    },

    async revoke(id) {
      const item = await readItem(id);
      if (!item) return false;
      await table.remove(item.id!.S!);
      await table.update(accountItem(item.account!.S!), {
        expression: 'DELETE keyIds :id',
        values: { ':id': { SS: [id] } },
      });
      return true;
    },
  };
}

function secondsOf(milliseconds: number): Item[string] {
  // Rounded up, so that a key that expires within this second does not expire too early.
  return { N: String(Math.ceil(milliseconds / 1000)) };
}

function recordOf(item: Item): KeyRecord {
  return withoutAbsent({
    ...narrow(ownRestrictions(item), parseRestrictions(item.ofAccount?.S)),
    id: keyIdOf(item.hash!.S!),
    account: item.account!.S!,
    name: item.name!.S!,
    created: Date.parse(item.created?.S ?? ''),
    lastUsed: item.lastUsed?.S,
    disabled: item.disabled?.BOOL ?? false,
    replaced: item.replaced?.BOOL ? true : undefined,
    accountDisabled: item.accountDisabled?.BOOL ? true : undefined,
    kind: item.kind?.S === 'signing' ? 'signing' : undefined,
  }) as KeyRecord;
}

function byAge(a: KeyRecord, b: KeyRecord): number {
  return a.created - b.created || a.id.localeCompare(b.id);
}

function sameText(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
