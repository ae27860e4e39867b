import { chmodSync, mkdirSync, truncateSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSqliteTable, keepSpace, openDatabase } from '../../../../functions/platform/local/database.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'database-'));
});
afterAll(() => rm(directory, { recursive: true }));

it('creates a private file', async () => {
  const file = join(directory, 'private/docmill.db');

  openDatabase(file).close();

  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(directory, 'private'))).mode & 0o777).toBe(0o700);
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

it.each([100, 10_000])('leaves nothing of %i deleted characters in the file', async (length) => {
  const file = join(directory, `deleted-${length}.db`);
  const database = openDatabase(file);
  const table = createSqliteTable(database, database.transaction);
  await table.update('erased', { set: { secret: 'password'.padEnd(length, '-') } });
  await table.update('changed', { set: { secret: 'password'.padEnd(length, '-') } });

  await table.remove('erased');
  await table.update('changed', { set: { secret: '' } });
  database.close();

  expect(await readFile(file, 'latin1')).not.toContain('password');
});

it('rolls back a transaction that throws', () => {
  const database = openDatabase(join(directory, 'undo.db'));

  expect(() =>
    database.transaction(() => {
      database.connection.exec("INSERT INTO items VALUES ('a', 'b', 1)");
      throw new Error('no');
    }),
  ).toThrow('no');

  expect(database.connection.prepare('SELECT count(*) AS count FROM items').get()).toEqual({ count: 0 });
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

it('does not open a database from another version', () => {
  const file = join(directory, 'newer.db');
  openDatabase(file).close();
  const connection = new DatabaseSync(file);
  connection.exec('PRAGMA user_version = 99');
  connection.close();

  expect(() => openDatabase(file)).toThrow(/another version of docmill \(schema 99\)/);
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
