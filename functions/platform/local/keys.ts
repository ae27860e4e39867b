import { randomUUID } from 'node:crypto';
import { dayOf } from '../../shared/dates.ts';
import { withoutAbsent } from '../../shared/without-absent.ts';
import { createApiKey, hashApiKey, keyIdOf } from '../keys/api-key.ts';
import { isValid, type KeyRecord, type Keys } from '../keys/keys.ts';
import { narrow, parseRestrictions, restrictionsOf } from '../keys/restrictions.ts';
import type { Database } from './database.ts';

type Row = Record<string, string | number | null>;

const ALL = `SELECT keys.*, accounts.disabled AS accountDisabled, accounts.restrictions
  FROM keys LEFT JOIN accounts ON accounts.id = keys.account`;
const IN_ORDER = 'ORDER BY keys.created, keys.id';

/** Keeps keys in SQLite. Every lookup reads the database, so changes by another process take effect immediately. */
export function createSqliteKeys({ connection, durable }: Database): Keys {
  const byHash = connection.prepare(`${ALL} WHERE hash = ?`);
  const byId = connection.prepare(`${ALL} WHERE keys.id = ?`);
  const use = connection.prepare('UPDATE keys SET lastUsed = :day WHERE id = :id AND lastUsed IS NOT :day');
  const read = (id: string) => {
    const row = byId.get(id) as Row | undefined;
    return row && recordOf(row);
  };

  const add: Keys['add'] = async (hash, key) => {
    const id = keyIdOf(hash);
    if (read(id)) return undefined;
    const { name, account = randomUUID(), kind = null, expires = null, tools, limits = {} } = key;
    const created = Date.now();
    durable(() => {
      // The limits of the first key become those of the account.
      const isFirst =
        connection
          .prepare(
            'INSERT OR IGNORE INTO accounts (id, created, disabled, signedOut, restrictions) VALUES (?, ?, 0, 0, ?)',
          )
          .run(account, created, JSON.stringify(restrictionsOf({ ...key, limits }))).changes > 0;
      connection
        .prepare(
          `INSERT INTO keys (id, hash, account, name, created, expires, disabled, tools, limits, kind)
           VALUES (:id, :hash, :account, :name, :created, :expires, 0, :tools, :limits, :kind)`,
        )
        .run({
          id,
          hash,
          account,
          name,
          created,
          expires,
          tools: tools ? tools.join(',') : null,
          limits: JSON.stringify(isFirst ? {} : limits),
          kind,
        });
    });
    return read(id);
  };
  const markUsed = (record: KeyRecord) => {
    if (record.lastUsed !== dayOf()) use.run({ day: dayOf(), id: record.id });
  };

  return {
    add,

    async find(apiKey) {
      // Looked up by hash, so that the response time reveals nothing about stored keys.
      const row = byHash.get(hashApiKey(apiKey)) as Row | undefined;
      const record = row && recordOf(row);
      if (!record || !isValid(record) || record.kind) return undefined;
      markUsed(record);
      return record;
    },

    async findSigner(id) {
      const row = byId.get(id) as Row | undefined;
      const record = row && recordOf(row);
      if (!record || !isValid(record) || record.kind !== 'signing') return undefined;
      markUsed(record);
      return { record, secret: String(row.hash) };
    },

    async create(key) {
      const apiKey = createApiKey();
      return { apiKey, record: (await add(hashApiKey(apiKey), key))! };
    },

    async list() {
      return (connection.prepare(`${ALL} ${IN_ORDER}`).all() as Row[]).map(recordOf);
    },

    async listOf(account) {
      const rows = connection.prepare(`${ALL} WHERE account = ? ${IN_ORDER}`).all(account);
      return (rows as Row[]).map(recordOf);
    },

    async get(id) {
      return read(id);
    },

    async update(id, changes) {
      return durable(() => {
        const row = byId.get(id) as Row | undefined;
        if (!row) return undefined;
        const { expires, disabled, limits, replaced } = {
          ...ownOf(row),
          disabled: row.disabled,
          replaced: row.replaced,
          ...changes,
        };
        connection
          .prepare('UPDATE keys SET expires = ?, disabled = ?, limits = ?, replaced = ? WHERE id = ?')
          .run(expires ?? null, Number(disabled), JSON.stringify(limits), replaced ? 1 : null, id);
        return read(id);
      });
    },

    async revoke(id) {
      return durable(() => connection.prepare('DELETE FROM keys WHERE id = ?').run(id).changes > 0);
    },
  };
}

/** Returns the key's own restrictions, without those of its account. */
function ownOf({ limits, tools, expires }: Row) {
  return restrictionsOf({
    limits: JSON.parse(String(limits)) as KeyRecord['limits'],
    ...(tools !== null && { tools: String(tools).split(',') }),
    ...(expires !== null && { expires: Number(expires) }),
  });
}

function recordOf(row: Row): KeyRecord {
  return withoutAbsent({
    ...narrow(ownOf(row), parseRestrictions(row.restrictions as string | null)),
    id: String(row.id),
    account: String(row.account),
    name: String(row.name),
    created: Number(row.created),
    lastUsed: row.lastUsed === null ? undefined : String(row.lastUsed),
    disabled: row.disabled === 1,
    replaced: row.replaced === 1 ? true : undefined,
    accountDisabled: row.accountDisabled === 1 ? true : undefined,
    kind: row.kind === 'signing' ? 'signing' : undefined,
  }) as KeyRecord;
}
