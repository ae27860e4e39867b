import { join } from 'node:path';
import { createSqliteAccounts } from '../../functions/platform/local/accounts.ts';
import { createSqliteAudit } from '../../functions/platform/local/audit.ts';
import { deleteOldRows, keepSpace, openDatabase } from '../../functions/platform/local/database.ts';
import { createSqliteFailures } from '../../functions/platform/local/failures.ts';
import { diskSize } from '../../functions/platform/local/free-space.ts';
import { createSqliteKeys } from '../../functions/platform/local/keys.ts';
import { createSqliteLimiter, endLeases } from '../../functions/platform/local/limits.ts';
import { createSqliteRecords } from '../../functions/platform/local/records.ts';
import { createSqliteUsage } from '../../functions/platform/local/usage.ts';

/** Bytes to reserve, enough for the counters and the usage of tens of thousands of accounts and days. */
const KEPT_BYTES = 8 * 2 ** 20;

export type Stores = ReturnType<typeof openStores>;

/** Opens the database in the data directory, with keys, accounts, limits, usage, failures, audit log and records. */
export function openStores(dataDirectory: string) {
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
    /** Path of the database. */
    file,
    /** Deletes obsolete rows. */
    deleteOldRows: () => deleteOldRows(database),
    /** Ends the leases of a server that was killed. Only the server that holds the data directory may call it. */
    endLeases: () => endLeases(database),
    /** Reserves space for the database on a disk that fills up. */
    keepSpace: () => keepSpace(database, Math.min(KEPT_BYTES, diskSize(dataDirectory) / 100)),
    close: () => database.close(),
  };
}
