import { setImmediate } from 'node:timers/promises';
import type { Attributes, Condition, Item, Table } from '../table.ts';
import type { Database } from './database.ts';

/** Number of items that `list` reads before other work gets its turn, which takes about a millisecond. */
const PAGE = 200;

/**
 * Keeps items in SQLite, as JSON. Writes are run by `write`: `transaction` of the database, or `durable`, which is slower.
 */
export function createSqliteTable({ connection }: Database, write: Database['transaction']): Table {
  const VALID = '(expires IS NULL OR expires > :now)';
  const read = connection.prepare(`SELECT content FROM items WHERE id = :id AND ${VALID}`);
  const page = connection.prepare(
    `SELECT id, content FROM items WHERE id > :after AND id < :end AND ${VALID} ORDER BY id LIMIT ${PAGE}`,
  );
  const insert = connection.prepare(
    `INSERT INTO items (id, content, expires) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET content = excluded.content, expires = excluded.expires`,
  );
  // Writes fewer pages of the file than a change of the index does.
  const replace = connection.prepare('UPDATE items SET content = ? WHERE id = ?');
  const erase = connection.prepare('DELETE FROM items WHERE id = ?');

  function find(id: string): Item | undefined {
    const row = read.get({ id, now: Date.now() });
    return row && (JSON.parse(row.content as string) as Item);
  }
  function store(item: Item, before: Item | undefined): Item {
    const content = JSON.stringify(item);
    if (before && before.expires === item.expires) replace.run(content, item.id);
    else insert.run(item.id, content, item.expires ?? null);
    return item;
  }

  return {
    get: async (id) => find(id),
    getAll: async (ids) => ids.flatMap((id) => find(id) ?? []),
    async *list(prefix) {
      for (let after = prefix; ; ) {
        const rows = page.all({ after, end: `${prefix}\u{10ffff}`, now: Date.now() });
        for (const { content } of rows) yield JSON.parse(content as string) as Item;
        if (rows.length < PAGE) return;
        after = rows.at(-1)!.id as string;
        await setImmediate();
      }
    },
    put: async (item, when) =>
      write(() => {
        const before = find(item.id);
        if (!holds(before, when)) return false;
        store(item, before);
        return true;
      }),
    update: async (id, { set, defaults, add = {}, when }) =>
      write(() => {
        const before = find(id);
        if (!holds(before, when)) return undefined;
        const item: Record<string, Attributes[string]> = { ...defaults, ...before, ...set };
        for (const name in add) item[name] = Number(before?.[name] ?? 0) + add[name]!;
        for (const name in set) if (set[name] === undefined) delete item[name];
        return store({ ...item, id }, before);
      }),
    remove: async (id) =>
      write(() => {
        const item = find(id);
        erase.run(id);
        return item;
      }),
  };
}

function holds(item: Item | undefined, when: Condition = {}): boolean {
  return Object.entries(when).every(([name, test]) => {
    const value = item?.[name];
    if (test === 'absent') return value === undefined;
    if (value === undefined) return false;
    if (test === 'present') return true;
    if ('is' in test) return value === test.is;
    return 'below' in test ? Number(value) < test.below : Number(value) > test.above;
  });
}
