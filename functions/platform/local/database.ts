import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import type { Attributes, Condition, Item, Table } from '../table.ts';

/** Maximum milliseconds to wait for another process that is writing. */
const BUSY_TIMEOUT = 5000;

/** Default size of a page in SQLite. */
const PAGE_BYTES = 4096;

/** Changes with each change of the schema. */
const VERSION = 6;
const SCHEMA = `
  CREATE TABLE items (id TEXT PRIMARY KEY, content TEXT NOT NULL, expires REAL) STRICT, WITHOUT ROWID;
  CREATE INDEX items_by_end ON items (expires) WHERE expires IS NOT NULL;
  CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON items WHEN old.id GLOB 'audit#*'
    BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
  CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON items WHEN old.id GLOB 'audit#*'
    BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
  PRAGMA user_version = ${VERSION};`;

/** A SQLite file that several processes may use at the same time. */
export interface Database {
  readonly connection: DatabaseSync;
  /**
   * Runs `work` in a transaction that holds the write lock from the start, so that whatever it reads stays true until
   * it writes.
   */
  transaction<Value>(work: () => Value): Value;
  /** Like `transaction`, and returns only after the data has reached the disk. */
  durable<Value>(work: () => Value): Value;
  close(): void;
}

/**
 * Opens or creates the database.
 * @throws Error that names the file and what to do when it is damaged, not writable or from another version.
 */
export function openDatabase(file: string): Database {
  try {
    makeDirectory(dirname(file));
    const connection = new DatabaseSync(file, { timeout: BUSY_TIMEOUT });
    chmodSync(file, 0o600);
    // With NORMAL, a power failure can lose the latest counts but never damages the file.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;');
    // Without this, deleted content such as a password in a job stays in free pages.
    connection.exec('PRAGMA secure_delete = ON;');
    // Finds damage that only a later statement would run into. Takes milliseconds, because the file is small.
    const { quick_check: check } = connection.prepare('PRAGMA quick_check(1)').get()!;
    if (check !== 'ok') throw Object.assign(new Error(String(check)), { errcode: CORRUPT });
    const database = wrap(connection, file);
    createSchema(database);
    return database;
  } catch (cause) {
    throw new Error(explain(file, cause), { cause });
  }
}

/**
 * Reserves free pages in the file, and as much space in its log, so that calls can still be counted when the disk is
 * full. SQLite reuses both.
 */
export function keepSpace({ connection, transaction }: Database, bytes: number): void {
  transaction(() => {
    connection.exec('CREATE TABLE IF NOT EXISTS filler (content BLOB) STRICT');
    connection.prepare('INSERT INTO filler (content) VALUES (zeroblob(?))').run(bytes);
  });
  transaction(() => connection.exec('DROP TABLE filler'));
  // Keeps the log within the space that the filler took in it.
  const pages = Math.max(1, Math.floor(bytes / PAGE_BYTES / 2));
  connection.exec(`PRAGMA wal_checkpoint; PRAGMA wal_autocheckpoint = ${pages}`);
}

/** Deletes expired items. */
export function deleteExpired({ connection, transaction }: Database, now = Date.now()): void {
  transaction(() => connection.prepare('DELETE FROM items WHERE expires <= ?').run(now));
}

function wrap(connection: DatabaseSync, file: string): Database {
  const transaction = <Value>(work: () => Value): Value => {
    connection.exec('BEGIN IMMEDIATE');
    try {
      const value = work();
      connection.exec('COMMIT');
      return value;
    } catch (thrown) {
      // SQLite has already rolled back after some errors, such as a full disk.
      if (connection.isTransaction) connection.exec('ROLLBACK');
      throw isOfFile(thrown) ? new Error(explain(file, thrown), { cause: thrown }) : thrown;
    }
  };
  return {
    connection,
    transaction,
    durable: (work) => {
      connection.exec('PRAGMA synchronous = FULL');
      try {
        return transaction(work);
      } finally {
        connection.exec('PRAGMA synchronous = NORMAL');
      }
    },
    close: () => connection.close(),
  };
}

function createSchema({ connection, transaction }: Database): void {
  const version = () => connection.prepare('PRAGMA user_version').get()!.user_version as number;
  if (version() === VERSION) return;
  transaction(() => {
    // Another process may have created it while this one waited for the lock.
    if (version() === 0) connection.exec(SCHEMA);
    else if (version() !== VERSION)
      throw new Error(
        `It was written by another version of docmill (schema ${version()}). Move it away to start with an empty one.`,
      );
  });
}

/** Result codes of SQLite: https://sqlite.org/rescode.html */
const [BUSY, READONLY, IO_ERROR, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE] = [5, 8, 10, 11, 13, 14, 26];

/** Whether an error of SQLite is about the file and not the statement. */
function isOfFile(thrown: unknown): boolean {
  const { errcode = 0 } = thrown as { errcode?: number };
  return [BUSY, READONLY, IO_ERROR, CORRUPT, FULL, CANNOT_OPEN, NOT_A_DATABASE].includes(errcode & 0xff);
}

function explain(file: string, cause: unknown): string {
  const { errcode = 0, code, message } = cause as { errcode?: number; code?: string; message: string };
  const primary = errcode & 0xff;
  if (primary === CORRUPT || primary === NOT_A_DATABASE) {
    return `The database ${file} is damaged. Stop every docmill process, then restore the file from a backup, or move it away to start with an empty one. Nothing was changed.`;
  }
  if (primary === FULL || code === 'ENOSPC') return `There is no space left to write the database ${file}.`;
  if (primary === BUSY) return `Another process has locked the database ${file}.`;
  const denied = ['EACCES', 'EPERM', 'EROFS', 'ENOENT', 'ENOTDIR', 'EEXIST'].includes(code ?? '');
  if (denied || [READONLY, CANNOT_OPEN, IO_ERROR].includes(primary)) {
    return `The database ${file} cannot be written. Check that the user that runs docmill owns DATA_DIR and can write to it. (${message})`;
  }
  return `The database ${file} cannot be opened. ${message}`;
}

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
  const exchange = connection.prepare('INSERT OR REPLACE INTO items (id, content, expires) VALUES (?, ?, ?)');
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
    // SQLite runs no trigger for a row that it deletes to insert another.
    replace: async (item) =>
      void write(() => exchange.run(item.id, JSON.stringify(item), item.expires ?? null)),
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

/**
 * Creates a private directory and its missing parents. Does not use Node's recursive `mkdirSync`, which never returns
 * for a path in `/proc`, where a new directory is ENOENT although its parent exists.
 * @throws Error of the file system.
 */
export function makeDirectory(path: string): void {
  const missing: string[] = [];
  for (let parent = path; !existsSync(parent); parent = dirname(parent)) missing.unshift(parent);
  for (const directory of missing) {
    try {
      mkdirSync(directory, { mode: 0o700 });
    } catch (thrown) {
      // Another process may have created it.
      if (!existsSync(directory)) throw thrown;
    }
  }
  // Throws if the path is a file.
  mkdirSync(path, { recursive: true });
}
