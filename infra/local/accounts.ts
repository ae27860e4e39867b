import { join } from 'node:path';
import type { Keys } from '../../functions/platform/keys/keys.ts';
import type { Limiter } from '../../functions/platform/limits/limits.ts';
import { openDatabase } from '../../functions/platform/local/database.ts';
import { importKeyFile } from '../../functions/platform/local/import-keys.ts';
import { createSqliteKeys } from '../../functions/platform/local/keys.ts';
import { createSqliteLimiter, endLeases } from '../../functions/platform/local/limits.ts';
import { createSqliteUsage } from '../../functions/platform/local/usage.ts';
import type { Usage } from '../../functions/platform/usage/usage.ts';

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
