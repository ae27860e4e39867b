import { join } from 'node:path';
import type { AccountTable } from '../../functions/platform/accounts/accounts.ts';
import type { AuditLog } from '../../functions/platform/audit/audit.ts';
import type { Keys } from '../../functions/platform/keys/keys.ts';
import type { Limiter } from '../../functions/platform/limits/limits.ts';
import { createSqliteAccounts } from '../../functions/platform/local/accounts.ts';
import { createSqliteAudit } from '../../functions/platform/local/audit.ts';
import { deleteOldRows, keepSpace, openDatabase } from '../../functions/platform/local/database.ts';
import { createSqliteFailures } from '../../functions/platform/local/failures.ts';
import { diskSize } from '../../functions/platform/local/free-space.ts';
import { createSqliteKeys } from '../../functions/platform/local/keys.ts';
import { createSqliteLimiter, endLeases } from '../../functions/platform/local/limits.ts';
import { createSqliteRecords } from '../../functions/platform/local/records.ts';
import { createSqliteUsage } from '../../functions/platform/local/usage.ts';
import type { Records } from '../../functions/platform/records/records.ts';
import type { Failures } from '../../functions/platform/usage/failures.ts';
import type { Usage } from '../../functions/platform/usage/usage.ts';

/** Bytes to reserve, enough for the counters and the usage of tens of thousands of accounts and days. */
const KEPT_BYTES = 8 * 2 ** 20;

/** Keys, accounts, limits, usage, failures, audit log and records of one machine, in one database. */
export interface Accounts {
  readonly keys: Keys;
  readonly limiter: Limiter;
  readonly usage: Usage;
  readonly failures: Failures;
  readonly accounts: AccountTable;
  readonly audit: AuditLog;
  readonly records: Records;
  /** Path of the database. */
  readonly file: string;
  /** Deletes obsolete rows. */
  deleteOldRows(): void;
  /** Ends the leases of a server that was killed. Only the server that holds the data directory may call it. */
  endLeases(): void;
  /** Reserves space for the database on a disk that fills up. */
  keepSpace(): void;
  close(): void;
}

/** Opens the database in the data directory. */
export function openAccounts(dataDirectory: string): Accounts {
  const file = join(dataDirectory, 'docmill.db');
  const database = openDatabase(file);
  return {
    keys: createSqliteKeys(database),
    limiter: createSqliteLimiter(database),
    usage: createSqliteUsage(database),
    failures: createSqliteFailures(database),
    accounts: createSqliteAccounts(database),
    audit: createSqliteAudit(database),
    records: createSqliteRecords(database),
    file,
    deleteOldRows: () => deleteOldRows(database),
    endLeases: () => endLeases(database),
    keepSpace: () => keepSpace(database, Math.min(KEPT_BYTES, diskSize(dataDirectory) / 100)),
    close: () => database.close(),
  };
}
