import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { createKeys } from '../../../../functions/platform/key-store.ts';
import {
  createSqliteTable,
  deleteExpired,
  openDatabase,
} from '../../../../functions/platform/local/database.ts';
import { createStores } from '../../../../functions/platform/stores.ts';
import { describeAccounts } from '../accounts.contract.ts';
import { describeIdempotency } from '../idempotency.contract.ts';
import { describeKeys } from '../keys.contract.ts';
import { describeLimiter } from '../limits.contract.ts';
import { describeRecords } from '../records.contract.ts';
import { describeUsage } from '../usage.contract.ts';

const TOOLS = ['pdftools', 'html2pdf'];

/** Opens a new database twice. */
async function open() {
  const directory = await mkdtemp(join(tmpdir(), 'table-'));
  const [database, other] = [openDatabase(join(directory, 'a.db')), openDatabase(join(directory, 'a.db'))];
  const table = createSqliteTable(database, database.transaction);
  return {
    database,
    table,
    ...createStores(table, TOOLS),
    others: createStores(createSqliteTable(other, other.durable), TOOLS).keys,
    dump: async () =>
      readdirSync(directory)
        .map((name) => readFileSync(join(directory, name), 'latin1'))
        .join('\n'),
    async wait(milliseconds: number) {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds });
    },
    async close() {
      vi.useRealTimers();
      database.close();
      other.close();
      await rm(directory, { recursive: true });
    },
  };
}

describeKeys('SQLite', open);
describeAccounts('SQLite', open);
describeLimiter('SQLite', open);
describeRecords('SQLite', open);
describeUsage('SQLite', open);
describeIdempotency('SQLite', open);

it('refuses to change or delete an entry of the audit log', async () => {
  const { audit, database, close } = await open();
  await audit.append({ actor: 'a', action: 'b', subject: 'c', details: '', from: '' });

  for (const statement of ['DELETE FROM items', "UPDATE items SET content = '{}'"])
    expect(() => database.connection.exec(`${statement} WHERE id = 'audit#1'`)).toThrow('append-only');
  expect(await audit.read()).toHaveLength(1);
  await close();
});

it('deletes counts of months that have ended and usage of more than 13 months ago, and nothing else', async () => {
  const { keys, limiter, usage, database, close } = await open();
  const now = Date.UTC(2100, 10, 24, 12, 0, 30);
  const ids = () =>
    database.connection
      .prepare('SELECT id FROM items')
      .all()
      .map(({ id }) => String(id).split('#')[0]);
  const facts = { account: 'a', tool: 'pdftools', code: 'OK', cached: false, coldStarts: 0 } as const;
  await keys.create({ name: 'expired', expires: 1 });
  await limiter.admit({ account: 'a', limits: { concurrent: 5 }, expires: now + 1000, now });
  await usage.record({ ...facts, sourceBytes: 1, resultBytes: 1, pages: 1, milliseconds: 1 }, now);

  const left = [now, Date.UTC(2100, 11, 1, 2), now + 402 * 24 * 3_600_000].map((time) => {
    deleteExpired(database, time);
    return ids();
  });

  const key = expect.stringMatching(/^key_/);
  expect(left).toEqual([
    ['account', 'counted', key, 'limits', 'total', 'usage'],
    ['account', 'counted', key, 'total', 'usage'],
    ['account', 'counted', key],
  ]);
  await close();
});

it('refuses a key whose account is disabled while the key is added', async () => {
  const { accounts, keys, database, close } = await open();
  const { account } = (await keys.create({ name: 'first' })).record;
  const table = createSqliteTable(database, database.transaction);
  const slow = createKeys({
    ...table,
    async put(item, when) {
      await accounts.update(account, { disabled: true });
      return table.put(item, when);
    },
  });

  const { apiKey } = await slow.create({ name: 'second', account });

  expect(await keys.find(apiKey)).toBeUndefined();
  await close();
});

it('finds a valid key although its use cannot be recorded', async () => {
  const { keys, database, close } = await open();
  const { apiKey, record } = await keys.create({ name: 'first' });
  const table = createSqliteTable(database, database.transaction);
  const throttled = createKeys({
    ...table,
    update: async () => {
      throw new Error('throttled');
    },
  });

  expect(await throttled.find(apiKey)).toEqual(record);
  await close();
});

it('lists more items than it reads at once', async () => {
  const { database, close } = await open();
  const table = createSqliteTable(database, database.transaction);
  const ids = Array.from({ length: 450 }, (_, index) => `a#${1000 + index}`);
  for (const id of ['a', ...ids, 'b']) await table.put({ id });

  const items = await Array.fromAsync(table.list('a#'));

  expect(items.map(({ id }) => id)).toEqual(ids);
  await close();
});
