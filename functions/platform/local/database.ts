import { chmodSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { dayOf } from '../../shared/dates.ts';
import { FAILURE_LIFETIME } from '../usage/failures.ts';
import { USAGE_LIFETIME } from '../usage/usage.ts';
import { makeDirectory } from './make-directory.ts';

/** Maximum milliseconds to wait for another process that is writing. */
const BUSY_TIMEOUT = 5000;

/** The schema migrations. Each entry upgrades the schema by one version and is never edited once released. */
const MIGRATIONS = [
  `CREATE TABLE keys (
     id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, account TEXT NOT NULL, name TEXT NOT NULL,
     created INTEGER NOT NULL, lastUsed TEXT, expires INTEGER, disabled INTEGER NOT NULL,
     tools TEXT, limits TEXT NOT NULL
   ) STRICT;
   CREATE TABLE counters (
     account TEXT NOT NULL, name TEXT NOT NULL, period TEXT NOT NULL, used INTEGER NOT NULL,
     PRIMARY KEY (account, name)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE leases (
     account TEXT NOT NULL, id TEXT NOT NULL, expires INTEGER NOT NULL,
     PRIMARY KEY (account, id)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE usage (
     account TEXT NOT NULL, day TEXT NOT NULL, tool TEXT NOT NULL, facts TEXT NOT NULL,
     PRIMARY KEY (account, day, tool)
   ) STRICT, WITHOUT ROWID;`,
  'ALTER TABLE keys ADD COLUMN kind TEXT;',
  `CREATE TABLE records (
     name TEXT PRIMARY KEY, content TEXT NOT NULL, expires INTEGER
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX records_by_end ON records (expires) WHERE expires IS NOT NULL;`,
  `CREATE TABLE accounts (
     id TEXT PRIMARY KEY, email TEXT, created INTEGER NOT NULL, role TEXT, disabled INTEGER NOT NULL,
     signedOut INTEGER NOT NULL
   ) STRICT, WITHOUT ROWID;
   INSERT INTO accounts SELECT account, NULL, min(created), NULL, 0, 0 FROM keys GROUP BY account;
   INSERT INTO accounts
     SELECT content ->> 'account', content ->> 'email', content ->> 'created', NULL, 0, content ->> 'signedOut'
     FROM records WHERE name GLOB 'member#*'
     ON CONFLICT DO UPDATE SET email = excluded.email, signedOut = excluded.signedOut;
   DELETE FROM records WHERE name GLOB 'member#*';
   CREATE INDEX accounts_by_age ON accounts (created);
   CREATE INDEX keys_by_account ON keys (account);
   CREATE TABLE failures (
     account TEXT NOT NULL, time INTEGER NOT NULL, code TEXT NOT NULL, requestId TEXT NOT NULL, tool TEXT
   ) STRICT;
   CREATE INDEX failures_by_account ON failures (account, time);
   CREATE INDEX failures_by_time ON failures (time);
   CREATE TABLE audit (
     number INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL, actor TEXT NOT NULL, action TEXT NOT NULL,
     subject TEXT NOT NULL, details TEXT NOT NULL, "from" TEXT NOT NULL
   ) STRICT;
   CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit
     BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
   CREATE TRIGGER audit_is_not_deleted BEFORE DELETE ON audit
     BEGIN SELECT RAISE(ABORT, 'The audit log is append-only.'); END;
   ALTER TABLE counters ADD COLUMN ends INTEGER NOT NULL DEFAULT 0;
   UPDATE counters SET ends = 1000 * unixepoch('now', '+2 months');
   CREATE INDEX counters_by_end ON counters (ends);
   CREATE INDEX leases_by_end ON leases (expires);
   CREATE INDEX usage_by_day ON usage (day);`,
  // Restricts an account to what its keys may do together, as `together` of `keys/restrictions.ts`.
  `ALTER TABLE accounts ADD COLUMN restrictions TEXT NOT NULL DEFAULT '{"limits":{}}';
   CREATE TEMP VIEW counted AS SELECT * FROM keys WHERE NOT disabled
     OR NOT EXISTS (SELECT 1 FROM keys AS other WHERE other.account = keys.account AND NOT other.disabled);
   UPDATE accounts SET restrictions = json_patch('{}', json_object(
     'limits', json((SELECT limits FROM keys WHERE account = accounts.id ORDER BY created, id LIMIT 1)),
     'tools', json((SELECT CASE WHEN count(*) = count(tools) THEN '["' || replace(group_concat(tools), ',', '","') || '"]' END
       FROM counted WHERE account = accounts.id)),
     'expires', (SELECT CASE WHEN count(*) = count(expires) THEN max(expires) END
       FROM counted WHERE account = accounts.id)))
     WHERE EXISTS (SELECT 1 FROM keys WHERE account = accounts.id);
   DROP VIEW counted;
   ALTER TABLE keys ADD COLUMN replaced INTEGER;
   UPDATE keys SET limits = '{}'
     WHERE limits = (SELECT restrictions -> 'limits' FROM accounts WHERE accounts.id = keys.account);`,
];

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
 * Opens or creates the database and upgrades its schema.
 * @throws Error that names the file and what to do when it is damaged, not writable or from a newer version.
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
    migrate(database);
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
  connection.exec('PRAGMA wal_checkpoint');
}

/** Deletes obsolete rows: counts of past windows, and usage older than 13 months. */
export function deleteOldRows({ connection, transaction }: Database, now = Date.now()): void {
  const day = dayOf(now - USAGE_LIFETIME);
  transaction(() => {
    connection.prepare('DELETE FROM counters WHERE ends <= ?').run(now);
    connection.prepare('DELETE FROM leases WHERE expires <= ?').run(now);
    connection.prepare('DELETE FROM usage WHERE day < ?').run(day);
    connection.prepare('DELETE FROM failures WHERE time <= ?').run(now - FAILURE_LIFETIME);
    connection.prepare('DELETE FROM records WHERE expires <= ?').run(now);
  });
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

function migrate({ connection, transaction }: Database): void {
  const version = () => connection.prepare('PRAGMA user_version').get()!.user_version as number;
  if (version() > MIGRATIONS.length) {
    throw new Error(`It was written by a newer version of docmill (schema ${version()}).`);
  }
  if (version() === MIGRATIONS.length) return;
  transaction(() => {
    // Another process may have migrated while this one waited for the lock.
    for (const migration of MIGRATIONS.slice(version())) connection.exec(migration);
    connection.exec(`PRAGMA user_version = ${MIGRATIONS.length}`);
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
