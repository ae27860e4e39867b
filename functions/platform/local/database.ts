import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory } from './make-directory.ts';

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
