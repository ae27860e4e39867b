import { createAccounts } from './accounts.ts';
import { createAudit } from './audit.ts';
import { createKeys } from './keys/key-store.ts';
import { createLimiter } from './limits/limiter.ts';
import { createRecords } from './records.ts';
import type { Table } from './table.ts';
import { createFailures } from './usage/failures.ts';
import { createUsage } from './usage/usage.ts';

export type Stores = ReturnType<typeof createStores>;

/** Creates the stores of a deployment. `counts` may be a faster table that loses the latest changes in a power failure. */
export function createStores(table: Table, tools: readonly string[], counts = table) {
  return {
    keys: createKeys(table),
    accounts: createAccounts(table),
    audit: createAudit(table),
    records: createRecords(table),
    limiter: createLimiter(counts),
    usage: createUsage(counts, tools),
    failures: createFailures(counts),
  };
}
