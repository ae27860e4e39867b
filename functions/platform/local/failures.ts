import { withoutAbsent } from '../../shared/without-absent.ts';
import {
  FAILURE_LIFETIME,
  type Failure,
  type Failures,
  KEPT_FAILURES,
  SHOWN_FAILURES,
} from '../usage/failures.ts';
import type { Database } from './database.ts';

/** Keeps failures in SQLite. */
export function createSqliteFailures({ connection, transaction }: Database): Failures {
  const insert = connection.prepare(
    'INSERT INTO failures (account, time, code, requestId, tool) VALUES (?, ?, ?, ?, ?)',
  );
  const trim = connection.prepare(
    `DELETE FROM failures WHERE account = :account AND rowid NOT IN (
       SELECT rowid FROM failures WHERE account = :account ORDER BY time DESC, rowid DESC LIMIT :kept)`,
  );
  return {
    record: async ({ account, time, code, requestId, tool }) =>
      transaction(() => {
        insert.run(account, time, code, requestId, tool ?? null);
        trim.run({ account, kept: KEPT_FAILURES });
      }),
    async recent(account) {
      const where = account === undefined ? '' : 'AND account = :account';
      const rows = connection
        .prepare(
          `SELECT * FROM failures WHERE time > :first ${where} ORDER BY time DESC, rowid DESC LIMIT :limit`,
        )
        .all({
          first: Date.now() - FAILURE_LIFETIME,
          limit: SHOWN_FAILURES,
          ...(account !== undefined && { account }),
        });
      return rows.map(
        ({ tool, ...row }) => withoutAbsent({ ...row, tool: tool ?? undefined }) as unknown as Failure,
      );
    },
  };
}
