import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApiKey, hashApiKey } from '../../../../functions/platform/keys/api-key.ts';
import { openDatabase } from '../../../../functions/platform/local/database.ts';
import { withKeys } from '../../../../functions/platform/local/given-keys.ts';
import { importKeyFile } from '../../../../functions/platform/local/import-keys.ts';
import { createSqliteKeys } from '../../../../functions/platform/local/keys.ts';
import { describeKeys } from '../keys/contract.ts';

let directory: string;
beforeAll(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  directory = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterAll(() => {
  vi.useRealTimers();
  return rm(directory, { recursive: true });
});

describeKeys('SQLite', async () => {
  const own = await mkdtemp(join(tmpdir(), 'keys-'));
  const file = join(own, 'deep/docmill.db');
  const [one, other] = [openDatabase(file), openDatabase(file)];
  return {
    keys: createSqliteKeys(one),
    others: createSqliteKeys(other),
    dump: async () => dumpOf(join(own, 'deep')),
    wait: async (milliseconds) => {
      vi.setSystemTime(Date.now() + milliseconds);
    },
    close: () => {
      one.close();
      other.close();
      return rm(own, { recursive: true });
    },
  };
});

/** The database and its write-ahead log. */
function dumpOf(folder: string): string {
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}

it('keeps keys across a restart', async () => {
  const file = join(directory, 'kept/docmill.db');
  const before = openDatabase(file);
  const { apiKey, record } = await createSqliteKeys(before).create({ name: 'kept' });
  before.close();

  const after = openDatabase(file);

  expect(await createSqliteKeys(after).find(apiKey)).toEqual(record);
  after.close();
});

describe('the key file of earlier versions', () => {
  const oldFile = async (name: string, content: unknown) => {
    const file = join(directory, `${name}.json`);
    await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  };

  it('is imported once, with owners and expiry, and kept under another name', async () => {
    const [valid, expired] = [createApiKey(), createApiKey()];
    const entries = {
      [hashApiKey(valid)]: { tenant: 'owner-1' },
      [hashApiKey(expired)]: { tenant: 'owner-2', expires: 1000 },
    };
    const file = await oldFile('old', entries);
    const database = openDatabase(join(directory, 'import.db'));
    const keys = createSqliteKeys(database);

    const counts = [importKeyFile(file, database), importKeyFile(file, database)];

    expect(counts).toEqual([2, 0]);
    expect(await keys.find(valid)).toMatchObject({ account: 'owner-1', name: 'imported' });
    expect(await keys.find(expired)).toBeUndefined();
    expect(await keys.list()).toHaveLength(2);
    expect(JSON.parse(await readFile(`${file}.imported`, 'utf8'))).toEqual(entries);
    await expect(stat(file)).rejects.toThrow('ENOENT');
    database.close();
  });

  it.each(['1000', '2020-01-01', '2020-01-01T00:00:00Z', 0])(
    'expires a key with the time %j',
    async (expires) => {
      const apiKey = createApiKey();
      const name = `expires-${expires}`;
      const file = await oldFile(name, { [hashApiKey(apiKey)]: { tenant: 'owner', expires } });
      const database = openDatabase(join(directory, `${name}.db`));
      const keys = createSqliteKeys(database);

      importKeyFile(file, database);

      expect(await keys.list()).toHaveLength(1);
      expect(await keys.find(apiKey)).toBeUndefined();
      database.close();
    },
  );

  it('is rejected if a key has an expiry that is not a time', async () => {
    const file = await oldFile('soon', {
      [hashApiKey(createApiKey())]: { tenant: 'owner', expires: 'soon' },
    });
    const database = openDatabase(join(directory, 'soon.db'));

    expect(() => importKeyFile(file, database)).toThrow('is damaged');
    database.close();
  });

  it('does not restore a key that was revoked after an interrupted import', async () => {
    const apiKey = createApiKey();
    const file = await oldFile('again', { [hashApiKey(apiKey)]: { tenant: 'owner' } });
    const database = openDatabase(join(directory, 'again.db'));
    importKeyFile(file, database);

    expect(importKeyFile(file, database)).toBe(0);
    expect(await createSqliteKeys(database).list()).toHaveLength(1);
    database.close();
  });

  it.each([['{"half'], ['{"short":{"tenant":"x"}}'], ['[1]']])(
    'is not touched if it is damaged: %s',
    async (content) => {
      const file = await oldFile('broken', content);
      const database = openDatabase(join(directory, 'broken.db'));

      expect(() => importKeyFile(file, database)).toThrow(/is damaged/);
      expect(await readFile(file, 'utf8')).toBe(content);
      database.close();
    },
  );
});

it('accepts a key from the settings, in any form, in addition to the stored ones', async () => {
  const database = openDatabase(join(directory, 'given.db'));
  const stored = createSqliteKeys(database);
  const { apiKey } = await stored.create({ name: 'stored' });
  const keys = withKeys(stored, [{ apiKey: 'my own key', name: 'API_KEY' }]);

  expect(await keys.find('my own key')).toMatchObject({
    name: 'API_KEY',
    account: expect.stringMatching(/^[0-9a-f]{16}$/),
  });
  expect(await keys.find(apiKey)).toBeDefined();
  expect(await keys.find('my own')).toBeUndefined();
  expect(await stored.find('my own key')).toBeUndefined();
  database.close();
});
