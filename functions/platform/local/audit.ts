import { AUDIT_PAGE, type AuditEntry, type AuditLog } from '../audit.ts';
import type { Database } from './database.ts';

/** Keeps the audit log in SQLite. Triggers reject changes and deletions of entries. */
export function createSqliteAudit({ connection, durable }: Database): AuditLog {
  const insert = connection.prepare(
    'INSERT INTO audit (time, actor, action, subject, details, "from") VALUES (?, ?, ?, ?, ?, ?)',
  );
  const read = connection.prepare('SELECT * FROM audit WHERE number < ? ORDER BY number DESC LIMIT ?');
  return {
    append: async ({ actor, action, subject, details, from }) =>
      durable(() => void insert.run(Date.now(), actor, action, subject, details, from)),
    read: async (before = Number.MAX_SAFE_INTEGER) => read.all(before, AUDIT_PAGE) as unknown as AuditEntry[],
  };
}
