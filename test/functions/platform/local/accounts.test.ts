import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createSqliteAccounts } from '../../../../functions/platform/local/accounts.ts';
import { createSqliteAudit } from '../../../../functions/platform/local/audit.ts';
import { deleteOldRows, openDatabase } from '../../../../functions/platform/local/database.ts';
import { createSqliteFailures } from '../../../../functions/platform/local/failures.ts';
import { createSqliteKeys } from '../../../../functions/platform/local/keys.ts';
import { createSqliteLimiter } from '../../../../functions/platform/local/limits.ts';
import { createSqliteUsage } from '../../../../functions/platform/local/usage.ts';
import { describeAccounts } from '../accounts/contract.ts';

describeAccounts('SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'accounts-'));
  const database = openDatabase(join(directory, 'docmill.db'));
  return {
    accounts: createSqliteAccounts(database),
    keys: createSqliteKeys(database),
    failures: createSqliteFailures(database),
    audit: createSqliteAudit(database),
    close: async () => {
      database.close();
      await rm(directory, { recursive: true });
    },
  };
});

it('refuses to change or delete an entry of the audit log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'audit-'));
  const database = openDatabase(join(directory, 'docmill.db'));
  const audit = createSqliteAudit(database);
  await audit.append({ actor: 'a', action: 'b', subject: 'c', details: '', from: '' });

  for (const statement of ['DELETE FROM audit', "UPDATE audit SET actor = 'x'"])
    expect(() => database.connection.exec(statement)).toThrow('append-only');
  expect(await audit.read()).toHaveLength(1);
  database.close();
  await rm(directory, { recursive: true });
});

it('deletes counts of windows that have ended and usage of more than 13 months ago, and nothing else', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'old-'));
  const database = openDatabase(join(directory, 'docmill.db'));
  const [limiter, usage] = [createSqliteLimiter(database), createSqliteUsage(database)];
  const now = Date.UTC(2026, 10, 24, 12, 0, 30);
  const count = (table: string) =>
    database.connection.prepare(`SELECT count(*) AS count FROM ${table}`).get()!.count;
  const call = { account: 'a', limits: { concurrent: 5 }, expires: now + 1000, now };
  const facts = { account: 'a', tool: 'pdftools', code: 'OK', cached: false, coldStarts: 0 } as const;
  const sizes = { sourceBytes: 1, resultBytes: 1, pages: 1, milliseconds: 1 };
  await limiter.admit(call);
  await limiter.admit({ ...call, account: 'b', limits: {}, shortWindow: 3_600_000 });
  await usage.record({ ...facts, ...sizes }, now);

  deleteOldRows(database, now + 29_000);
  const within = await limiter.used('a', now);
  deleteOldRows(database, now + 31_000);
  const [counters, leases] = [count('counters'), count('leases')];
  deleteOldRows(database, Date.UTC(2026, 11, 1));
  const [nextMonth, rows] = [count('counters'), count('usage')];
  deleteOldRows(database, now + 402 * 24 * 3_600_000);

  expect(within).toEqual({ short: 1, month: 1 });
  // The minute of one account has ended; its month, and both windows of the other, have not.
  expect([counters, leases, nextMonth, rows, count('usage')]).toEqual([3, 0, 0, 1, 0]);
  database.close();
  await rm(directory, { recursive: true });
});
