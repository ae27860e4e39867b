import type { Records } from '../records.ts';
import type { Database } from './database.ts';

/** Keeps records in SQLite. Adding one deletes all expired ones. */
export function createSqliteRecords({ connection, durable }: Database): Records {
  const clean = connection.prepare('DELETE FROM records WHERE expires <= ?');
  const insert = connection.prepare(
    'INSERT OR IGNORE INTO records (name, content, expires) VALUES (?, ?, ?)',
  );
  const replace = connection.prepare('INSERT OR REPLACE INTO records (name, content) VALUES (?, ?)');
  const read = connection.prepare(
    'SELECT content FROM records WHERE name = ? AND (expires IS NULL OR expires > ?)',
  );
  const remove = connection.prepare('DELETE FROM records WHERE name = ?');
  const get = (name: string) => read.get(name, Date.now())?.content as string | undefined;

  return {
    add: async (name, text, expires) =>
      durable(() => {
        clean.run(Date.now());
        return insert.run(name, text, expires ?? null).changes > 0;
      }),
    set: async (name, text) => durable(() => void replace.run(name, text)),
    get: async (name) => get(name),
    take: async (name) =>
      durable(() => {
        const text = get(name);
        remove.run(name);
        return text;
      }),
  };
}
