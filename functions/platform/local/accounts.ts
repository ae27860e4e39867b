import { withoutAbsent } from '../../shared/without-absent.ts';
import type { Account, AccountTable } from '../accounts.ts';
import { parseRestrictions, UNRESTRICTED } from '../keys/restrictions.ts';
import type { Database } from './database.ts';

type Row = Record<string, string | number | null>;

/** `lowercase` is a function of this module, because SQLite's `lower` only knows ASCII. */
const FOUND = `:text = '' OR instr(lowercase(email), :text) OR instr(lowercase(id), :text) OR EXISTS (
  SELECT 1 FROM keys WHERE account = accounts.id AND (instr(lowercase(name), :text) OR instr(lowercase(keys.id), :text)))`;

/** Keeps accounts in SQLite. Keys are refused and restricted by the state of their account, which every lookup reads. */
export function createSqliteAccounts({ connection, durable }: Database): AccountTable {
  connection.function('lowercase', { deterministic: true }, (text) => text && String(text).toLowerCase());
  const byId = connection.prepare('SELECT * FROM accounts WHERE id = ?');
  const read = (id: string) => {
    const row = byId.get(id) as Row | undefined;
    return row && accountOf(row);
  };
  return {
    add: async (id, email) =>
      durable(
        () =>
          void connection
            .prepare(
              `INSERT INTO accounts (id, email, created, disabled, signedOut) VALUES (?, ?, ?, 0, 0)
               ON CONFLICT DO UPDATE SET email = excluded.email`,
            )
            .run(id, email, Date.now()),
      ),
    get: async (id) => read(id),
    update: async (id, changes) =>
      durable(() => {
        const { role, disabled, signedOut, restrictions } = { ...read(id), ...changes };
        connection
          .prepare('UPDATE accounts SET role = ?, disabled = ?, signedOut = ?, restrictions = ? WHERE id = ?')
          .run(
            role ?? null,
            Number(disabled ?? false),
            signedOut ?? 0,
            JSON.stringify(restrictions ?? UNRESTRICTED),
            id,
          );
      }),
    remove: async (id) => durable(() => void connection.prepare('DELETE FROM accounts WHERE id = ?').run(id)),
    async search(text, offset, limit) {
      const values = { text: text.toLowerCase() };
      const rows = connection
        .prepare(
          `SELECT * FROM accounts WHERE ${FOUND} ORDER BY created DESC, id LIMIT :limit OFFSET :offset`,
        )
        .all({ ...values, limit, offset }) as Row[];
      const { total } = connection
        .prepare(`SELECT count(*) AS total FROM accounts WHERE ${FOUND}`)
        .get(values)!;
      return { accounts: rows.map(accountOf), total: Number(total) };
    },
  };
}

function accountOf(row: Row): Account {
  return withoutAbsent({
    id: String(row.id),
    email: row.email === null ? undefined : String(row.email),
    created: Number(row.created),
    role: row.role === 'operator' ? 'operator' : undefined,
    disabled: row.disabled === 1,
    signedOut: Number(row.signedOut),
    restrictions: parseRestrictions(String(row.restrictions)),
  }) as Account;
}
