import { setImmediate } from 'node:timers/promises';
import {
  addTotals,
  compareRows,
  NO_USAGE,
  totalsOf,
  type Usage,
  type UsageRow,
  type UsageTotals,
} from '../usage/usage.ts';
import type { Database } from './database.ts';

/** Records usage in SQLite. */
export function createSqliteUsage({ connection, transaction }: Database): Usage {
  const read = connection.prepare('SELECT facts FROM usage WHERE account = ? AND day = ? AND tool = ?');
  const write = connection.prepare('INSERT OR REPLACE INTO usage VALUES (?, ?, ?, ?)');

  return {
    async record(conversion, now = Date.now()) {
      const row = [conversion.account, new Date(now).toISOString().slice(0, 10), conversion.tool] as const;
      transaction(() => {
        const stored = read.get(...row)?.facts;
        const before = stored === undefined ? NO_USAGE : (JSON.parse(String(stored)) as UsageTotals);
        write.run(...row, JSON.stringify(addTotals(before, totalsOf(conversion))));
      });
    },

    async month(month, account) {
      const own = account === undefined ? '' : ' AND account = :account';
      const query = connection.prepare(`SELECT * FROM usage WHERE day = :day${own}`);
      const rows: UsageRow[] = [];
      for (let number = 1; number <= 31; number += 1) {
        const day = `${month}-${String(number).padStart(2, '0')}`;
        rows.push(...query.all({ day, ...(account !== undefined && { account }) }).map(rowOf));
        // All accounts of a month can be many rows.
        if (account === undefined) await setImmediate();
      }
      return rows.sort(compareRows);
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
