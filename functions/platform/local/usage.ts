import { setImmediate } from 'node:timers/promises';
import { dayOf, daysOf } from '../../shared/dates.ts';
import {
  addTotals,
  compareRows,
  NO_USAGE,
  sumByTool,
  totalsOf,
  type Usage,
  type UsageRow,
  type UsageTotals,
} from '../usage/usage.ts';
import type { Database } from './database.ts';

/** Records usage in SQLite. */
export function createSqliteUsage({ connection, transaction }: Database): Usage {
  const read = connection.prepare('SELECT facts FROM usage WHERE account = ? AND day = ? AND tool = ?');
  const write = connection.prepare(
    'INSERT OR REPLACE INTO usage (account, day, tool, facts) VALUES (?, ?, ?, ?)',
  );

  /** Reads a month day by day, because all accounts together can have many rows. */
  async function* rowsOf(month: string, account?: string): AsyncGenerator<UsageRow[]> {
    const own = account === undefined ? '' : ' AND account = :account';
    const query = connection.prepare(`SELECT * FROM usage WHERE day = :day${own}`);
    for (const day of daysOf(month)) {
      yield query.all({ day, ...(account !== undefined && { account }) }).map(rowOf);
      if (account === undefined) await setImmediate();
    }
  }

  return {
    async record(conversion, now = Date.now()) {
      const row = [conversion.account, dayOf(now), conversion.tool] as const;
      transaction(() => {
        const stored = read.get(...row)?.facts;
        const before = stored === undefined ? NO_USAGE : (JSON.parse(String(stored)) as UsageTotals);
        write.run(...row, JSON.stringify(addTotals(before, totalsOf(conversion))));
      });
    },

    async month(month, account) {
      const rows: UsageRow[] = [];
      for await (const day of rowsOf(month, account)) rows.push(...day);
      return rows.sort(compareRows);
    },

    async total(month) {
      const rows: UsageRow[] = [];
      for await (const day of rowsOf(month)) rows.push(...sumByTool(day));
      return rows;
    },
  };
}

function rowOf({ account, day, tool, facts }: Record<string, unknown>): UsageRow {
  return {
    account: String(account),
    day: String(day),
    tool: String(tool),
    ...(JSON.parse(String(facts)) as UsageTotals),
  };
}
