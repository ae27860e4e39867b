import { chmodSync, mkdirSync, truncateSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { deleteOldRows, keepSpace, openDatabase } from '../../../../functions/platform/local/database.ts';
import { createSqliteKeys } from '../../../../functions/platform/local/keys.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'database-'));
});
afterAll(() => rm(directory, { recursive: true }));

it('creates a private file that several connections can use at once', async () => {
  const file = join(directory, 'private/docmill.db');
  const [one, other] = [openDatabase(file), openDatabase(file)];

  const { record } = await createSqliteKeys(one).create({ name: 'x' });

  expect(await createSqliteKeys(other).get(record.id)).toEqual(record);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(directory, 'private'))).mode & 0o777).toBe(0o700);
  one.close();
  other.close();
});

it('keeps free pages for a disk that fills up', () => {
  const database = openDatabase(join(directory, 'kept.db'));
  const pages = (name: string) =>
    Object.values(database.connection.prepare(`PRAGMA ${name}`).get()!)[0] as number;

  keepSpace(database, 1_000_000);
  const [free, all] = [pages('freelist_count'), pages('page_count')];
  keepSpace(database, 1_000_000);

  expect(free * pages('page_size')).toBeGreaterThan(990_000);
  expect(pages('page_count')).toBe(all);
  database.close();
});

it('rolls back a transaction that throws', () => {
  const database = openDatabase(join(directory, 'undo.db'));

  expect(() =>
    database.transaction(() => {
      database.connection.exec("INSERT INTO leases VALUES ('a', 'b', 1)");
      throw new Error('no');
    }),
  ).toThrow('no');

  expect(database.connection.prepare('SELECT count(*) AS count FROM leases').get()).toEqual({ count: 0 });
  database.close();
});

it('reports a file that is not a database, and does not change it', async () => {
  const file = join(directory, 'text.db');
  await writeFile(file, 'not a database at all, but a text that is long enough'.repeat(20));

  expect(() => openDatabase(file)).toThrow(/text\.db is damaged\. Stop every docmill process, then restore/);
  expect(await readFile(file, 'utf8')).toMatch(/^not a database/);
});

it.each([
  ['its first page', 100, 4000],
  ['the pages after it', 4096, undefined],
])('reports a database with %s overwritten as damaged', async (_, start, end) => {
  const file = join(directory, `torn-${start}.db`);
  openDatabase(file).close();
  const bytes = await readFile(file);
  bytes.fill(0xff, start, end);
  await writeFile(file, bytes);

  expect(() => openDatabase(file)).toThrow(/torn-\d+\.db is damaged/);
});

it('does not open a database from a newer version', () => {
  const file = join(directory, 'newer.db');
  openDatabase(file).close();
  const connection = new DatabaseSync(file);
  connection.exec('PRAGMA user_version = 99');
  connection.close();

  expect(() => openDatabase(file)).toThrow(/newer version of docmill \(schema 99\)/);
});

it('upgrades a database of the first version, with its keys', () => {
  const file = join(directory, 'first.db');
  mkdirSync(directory, { recursive: true });
  const first = new DatabaseSync(file);
  first.exec(`CREATE TABLE keys (
      id TEXT PRIMARY KEY, hash TEXT NOT NULL UNIQUE, account TEXT NOT NULL, name TEXT NOT NULL,
      created INTEGER NOT NULL, lastUsed TEXT, expires INTEGER, disabled INTEGER NOT NULL,
      tools TEXT, limits TEXT NOT NULL
    ) STRICT;
    CREATE TABLE counters (
      account TEXT NOT NULL, name TEXT NOT NULL, period TEXT NOT NULL, used INTEGER NOT NULL,
      PRIMARY KEY (account, name)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE leases (
      account TEXT NOT NULL, id TEXT NOT NULL, expires INTEGER NOT NULL, PRIMARY KEY (account, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE usage (
      account TEXT NOT NULL, day TEXT NOT NULL, tool TEXT NOT NULL, facts TEXT NOT NULL,
      PRIMARY KEY (account, day, tool)
    ) STRICT, WITHOUT ROWID;
    INSERT INTO counters VALUES ('account', 'month', '2026-11', 7);
    INSERT INTO keys VALUES ('key_1', 'hash', 'account', 'old', 1, NULL, NULL, 0, NULL, '{}'), ('key_2', 'h2', 'b', 'off', 1, NULL, NULL, 1, NULL, '{"perMonth":5}'),
      ('key_3', 'h3', 'b', 'x', 2, NULL, 9, 0, 'pdftools,doc2any', '{"perMonth":5}'), ('key_4', 'h4', 'b', 'y', 3, NULL, 8, 0, 'imageproc', '{}');
    PRAGMA user_version = 1;`);
  first.close();

  const database = openDatabase(file);

  expect(database.connection.prepare("SELECT id, kind FROM keys WHERE account = 'account'").all()).toEqual([
    expect.objectContaining({ id: 'key_1', kind: null }),
  ]);
  expect(database.connection.prepare('SELECT * FROM accounts').get()).toMatchObject({
    id: 'account',
    created: 1,
    restrictions: '{"limits":{}}',
  });
  const restricted = database.connection.prepare("SELECT restrictions FROM accounts WHERE id = 'b'").get()!;
  expect(JSON.parse(String(restricted.restrictions))).toEqual({
    limits: { perMonth: 5 },
    tools: ['pdftools', 'doc2any', 'imageproc'],
    expires: 9,
  });
  deleteOldRows(database);
  expect(database.connection.prepare('SELECT used FROM counters').get()).toEqual({ used: 7 });
  database.close();
});

it('treats an empty file like a missing one', () => {
  const file = join(directory, 'empty.db');
  mkdirSync(directory, { recursive: true });
  openDatabase(file).close();
  truncateSync(file, 0);

  openDatabase(file).close();
});

it.skipIf(process.getuid?.() === 0)(
  'reports a folder that is not writable (needs a user other than root)',
  () => {
    const folder = join(directory, 'locked');
    mkdirSync(folder);
    chmodSync(folder, 0o500);

    expect(() => openDatabase(join(folder, 'docmill.db'))).toThrow(/cannot be written.*DATA_DIR/);
  },
);

it('reports a data directory that is a file', async () => {
  const file = join(directory, 'file');
  await writeFile(file, '');

  expect(() => openDatabase(join(file, 'docmill.db'))).toThrow(/cannot be written.*DATA_DIR/);
});
