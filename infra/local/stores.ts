import { join } from 'node:path';
import {
  createSqliteTable,
  deleteExpired,
  keepSpace,
  openDatabase,
} from '../../functions/platform/local/database.ts';
import { diskSize } from '../../functions/platform/local/disk-space.ts';
import { createStores } from '../../functions/platform/stores.ts';
import * as tools from '../../functions/tools.ts';

/** Bytes to reserve, enough for the counters and the usage of tens of thousands of accounts and days. */
const KEPT_BYTES = 8 * 2 ** 20;

export type Stores = ReturnType<typeof openStores>;

/** Opens the database in the data directory. */
export function openStores(dataDirectory: string) {
  const file = join(dataDirectory, 'docmill.db');
  const database = openDatabase(file);
  // A power failure may lose the latest counts, but nothing else.
  const counts = createSqliteTable(database, database.transaction);
  return {
    ...createStores(createSqliteTable(database, database.durable), Object.keys(tools), counts),
    /** Records the results of each account. */
    results: counts,
    /** Path of the database. */
    file,
    deleteExpired: () => deleteExpired(database),
    /** Reserves space for the database on a disk that fills up. */
    keepSpace: () => keepSpace(database, Math.min(KEPT_BYTES, diskSize(dataDirectory) / 100)),
    close: () => database.close(),
  };
}
