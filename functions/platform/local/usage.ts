import { addTotals, compareRows, NO_USAGE, totalsOf, type Usage, type UsageTotals } from '../usage/usage.ts';
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
      const where = account === undefined ? '' : ' AND account = :account';
      const rows = connection
        .prepare(`SELECT * FROM usage WHERE day >= :first AND day <= :last${where}`)
        .all({
          first: `${month}-01`,
          last: `${month}-31`,
          ...(account !== undefined && { account }),
        });
      return rows
        .map(({ account, day, tool, facts }) => ({
          account: String(account),
          day: String(day),
          tool: String(tool),
          ...(JSON.parse(String(facts)) as UsageTotals),
        }))
        .sort(compareRows);
    },
  };
}
