import { randomUUID } from 'node:crypto';
import type { Admission, Exceeded, Limiter } from '../limits/limits.ts';
import { type Windows, windowEnds, windowsAt } from '../limits/windows.ts';
import type { Database } from './database.ts';

/** Counts in SQLite, with one transaction per call. */
export function createSqliteLimiter({ connection, transaction }: Database): Limiter {
  const count = connection.prepare(
    `INSERT INTO counters (account, name, period, used, ends) VALUES (:account, :name, :period, 1, :ends)
     ON CONFLICT DO UPDATE SET used = iif(period = excluded.period, used + 1, 1), period = excluded.period, ends = excluded.ends
     WHERE period <> excluded.period OR used < :limit RETURNING used`,
  );
  const read = connection.prepare('SELECT used FROM counters WHERE account = ? AND name = ? AND period = ?');
  const giveBack = connection.prepare(
    'UPDATE counters SET used = used - 1 WHERE account = ? AND name = ? AND period = ? AND used > 0',
  );
  const expire = connection.prepare('DELETE FROM leases WHERE account = ? AND expires <= ?');
  const leases = connection.prepare('SELECT count(*) AS count FROM leases WHERE account = ?');
  const lease = connection.prepare('INSERT INTO leases (account, id, expires) VALUES (?, ?, ?)');
  const endLease = connection.prepare('DELETE FROM leases WHERE account = ? AND id = ?');

  const usedBy = (account: string, now: number, shortWindow?: number) => {
    const windows = windowsAt(now, shortWindow);
    const used = (name: keyof Windows) => Number(read.get(account, name, windows[name])?.used ?? 0);
    return { short: used('short'), month: used('month') };
  };

  return {
    async admit({ account, limits, expires, now = Date.now(), shortWindow }) {
      const windows = windowsAt(now, shortWindow);
      const ends = windowEnds(now, shortWindow);
      const id = limits.concurrent === undefined ? undefined : randomUUID();
      const take = (name: keyof Windows, limit: number = Number.MAX_SAFE_INTEGER) =>
        limit > 0 &&
        count.get({ account, name, period: windows[name], limit, ends: ends[name] }) !== undefined;
      try {
        return transaction((): Admission => {
          if (!take('short', limits.perShortWindow)) throw new Refused('perShortWindow');
          if (!take('month', limits.perMonth)) throw new Refused('perMonth');
          if (id !== undefined) {
            expire.run(account, now);
            if (Number(leases.get(account)!.count) >= limits.concurrent!) throw new Refused('concurrent');
            lease.run(account, id, expires);
          }
          const ticket = { account, windows, ...(id !== undefined && { lease: id }) };
          return { admitted: true, used: usedBy(account, now, shortWindow), ticket };
        });
      } catch (thrown) {
        // Thrown to roll back the transaction.
        if (!(thrown instanceof Refused)) throw thrown;
        return { admitted: false, used: usedBy(account, now, shortWindow), exceeded: thrown.exceeded };
      }
    },

    async release({ account, windows, lease }, refund) {
      if (lease === undefined && refund === 'none') return;
      transaction(() => {
        if (lease !== undefined) endLease.run(account, lease);
        if (refund !== 'none') giveBack.run(account, 'month', windows.month);
        if (refund === 'all') giveBack.run(account, 'short', windows.short);
      });
    },

    async used(account, now = Date.now()) {
      return usedBy(account, now);
    },
  };
}

/** Ends the leases of calls whose process was killed. Only for a process that is the only user of the database. */
export function endLeases({ connection }: Database): void {
  connection.exec('DELETE FROM leases');
}

class Refused extends Error {
  readonly exceeded: Exceeded;

  constructor(exceeded: Exceeded) {
    super(exceeded);
    this.exceeded = exceeded;
  }
}
