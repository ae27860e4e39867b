import { randomUUID, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { dayOf } from '../shared/time.ts';
import { withoutAbsent } from '../shared/without-absent.ts';
import { accountId, keyIdsOf, marksOf } from './accounts.ts';
import {
  createApiKey,
  hashApiKey,
  isValid,
  type KeyRecord,
  type Keys,
  keyIdOf,
  narrow,
  parseRestrictions,
  restrictionsOf,
} from './keys.ts';
import type { Item, Table } from './table.ts';

/**
 * Keeps each key in an item whose ID is that of the key. The item also contains the state of the account, so that finding
 * a key reads one item. It does not expire with the key, so that an account with expired keys keeps what they may do.
 */
export function createKeys(table: Table): Keys {
  async function read(id: string): Promise<KeyRecord | undefined> {
    const item = await table.get(id);
    return item?.hash === undefined ? undefined : recordOf(item);
  }

  const add: Keys['add'] = async (hash, key) => {
    const id = keyIdOf(hash);
    if (await read(id)) return undefined;
    const { account = randomUUID(), kind, expires, tools, limits = {} } = key;
    const created = Date.now();
    const before = await table.get(accountId(account));
    const name = distinctName(key.name, before);
    // Comes first, so that a concurrent change of the account finds the key.
    const joined = await table.update(accountId(account), {
      set: { [id]: name },
      defaults: { created, restrictions: JSON.stringify(restrictionsOf({ ...key, limits })) },
    });
    const item: Item = withoutAbsent({
      id,
      hash,
      account,
      name,
      created,
      kind,
      disabled: false,
      // The limits of the first key become those of the account.
      limits: JSON.stringify(before ? limits : {}),
      tools: tools?.join(','),
      end: expires,
      ...marksOf(joined),
    });
    if (!(await table.put(item, { id: 'absent' }))) return undefined;
    // The account may have changed before the key existed. If it changes later, that finds the key.
    const marks = marksOf(await table.get(accountId(account)));
    if (isDeepStrictEqual(marks, marksOf(joined))) return recordOf(item);
    const marked = await table.update(id, { set: marks, when: { hash: 'present' } });
    return marked && recordOf(marked);
  };

  async function markUsed({ id, lastUsed }: KeyRecord): Promise<void> {
    if (lastUsed === dayOf()) return;
    // A write that fails, for example because it is throttled, must not refuse a valid key.
    // On AWS, the router may read and write no other attributes of a key.
    await table.update(id, { set: { lastUsed: dayOf() }, when: { created: 'present' } }).catch(() => {});
  }

  return {
    add,

    async find(apiKey) {
      const hash = hashApiKey(apiKey);
      const item = await table.get(keyIdOf(hash));
      if (!item || !timingSafeEqual(Buffer.from(String(item.hash)), Buffer.from(hash))) return undefined;
      const record = recordOf(item);
      if (!isValid(record) || record.kind) return undefined;
      await markUsed(record);
      return record;
    },

    async findSigner(id) {
      const item = await table.get(id);
      const record = item?.kind === 'signing' ? recordOf(item) : undefined;
      if (!record || !isValid(record)) return undefined;
      await markUsed(record);
      return { record, secret: String(item!.hash) };
    },

    async create(key) {
      const apiKey = createApiKey();
      return { apiKey, record: (await add(hashApiKey(apiKey), key))! };
    },

    async list() {
      return inOrder(await Array.fromAsync(table.list('key_')));
    },

    async listOf(account) {
      return inOrder(await table.getAll(keyIdsOf(await table.get(accountId(account)))));
    },

    get: read,

    async update(id, changes) {
      const { expires: end, limits, ...flags } = changes;
      const set = {
        ...flags,
        ...(limits && { limits: JSON.stringify(limits) }),
        ...('expires' in changes && { end }),
      };
      const item = await table.update(id, { set, when: { hash: 'present' } });
      return item && recordOf(item);
    },

    async revoke(id) {
      const removed = await read(id);
      if (!removed) return false;
      await table.remove(id);
      await table.update(accountId(removed.account), { set: { [id]: undefined }, when: { id: 'present' } });
      return true;
    },
  };
}

/** Returns a name that no other key of the account has, with a number if there is one. */
function distinctName(wanted: string, account: Item | undefined): string {
  const taken = new Set(keyIdsOf(account).map((id) => account![id]));
  const stem = wanted.replace(/ \d{1,3}$/, '');
  let name = wanted;
  for (let number = 2; taken.has(name); number += 1) name = `${stem} ${number}`;
  return name;
}

function inOrder(items: readonly Item[]): KeyRecord[] {
  return items.map(recordOf).sort((a, b) => a.created - b.created || a.id.localeCompare(b.id));
}

/** A key as it is stored. */
type Row = Omit<KeyRecord, 'expires' | 'tools' | 'limits'> &
  Readonly<{ hash: string; limits: string; tools?: string; end?: number; ofAccount?: string }>;

function recordOf(item: Item): KeyRecord {
  const { hash: _, ofAccount, limits, tools, end, ...facts } = item as Row;
  const own = restrictionsOf({
    limits: JSON.parse(limits) as KeyRecord['limits'],
    ...(tools !== undefined && { tools: tools.split(',') }),
    ...(end !== undefined && { expires: end }),
  });
  return { ...facts, ...narrow(own, parseRestrictions(ofAccount)) };
}
