import { join } from 'node:path';
import { openDatabase } from '../../functions/shared/database/sqlite.ts';
import { importKeyFile } from '../../functions/shared/keys/import.ts';
import type { Keys } from '../../functions/shared/keys/keys.ts';
import { createSqliteKeys } from '../../functions/shared/keys/sqlite.ts';
import type { Limiter } from '../../functions/shared/limits/limits.ts';
import { createSqliteLimiter, endLeases } from '../../functions/shared/limits/sqlite.ts';
import { createSqliteUsage } from '../../functions/shared/usage/sqlite.ts';
import type { Usage } from '../../functions/shared/usage/usage.ts';

/** Keys, limits and usage of one machine. */
export interface Accounts {
  readonly keys: Keys;
  readonly limiter: Limiter;
  readonly usage: Usage;
  /** Ends the running calls of a server that was killed. Only the server that holds the data directory may call it. */
  endLeases(): void;
  close(): void;
}

/** Opens the database in the data directory. The JSON key file of earlier versions is imported once. */
export function openAccounts(dataDirectory: string): Accounts {
  const database = openDatabase(join(dataDirectory, 'docmill.db'));
  importKeyFile(join(dataDirectory, 'keys.json'), database);
  return {
    keys: createSqliteKeys(database),
    limiter: createSqliteLimiter(database),
    usage: createSqliteUsage(database),
    endLeases: () => endLeases(database),
    close: () => database.close(),
  };
}
