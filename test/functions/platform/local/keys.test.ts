import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { openDatabase } from '../../../../functions/platform/local/database.ts';
import { createSqliteKeys } from '../../../../functions/platform/local/keys.ts';
import { withKeys } from '../../../../functions/platform/local/with-keys.ts';
import { traceOf } from '../../../../functions/router/call.ts';
import { describe } from '../../../../functions/shared/log.ts';
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
  // As one that was generated, it must not be logged, whichever header it comes in.
  const header = () => 'my-other-key';
  expect(traceOf({ header }).requestId).toBe('my-other-key');
  withKeys(stored, [{ apiKey: 'my-other-key', name: 'API_KEY' }]);
  expect(traceOf({ header }).requestId).not.toContain('my-other-key');
  expect(describe(new Error('my-other-key is refused'))).toBe('Error: … is refused');
  database.close();
});
