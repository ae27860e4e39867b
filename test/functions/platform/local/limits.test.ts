import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../../../functions/platform/local/database.ts';
import { createSqliteLimiter } from '../../../../functions/platform/local/limits.ts';
import { describeLimiter } from '../limits/contract.ts';

describeLimiter('SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'limits-'));
  const database = openDatabase(join(directory, 'docmill.db'));
  return {
    limiter: createSqliteLimiter(database),
    close: async () => {
      database.close();
      await rm(directory, { recursive: true });
    },
  };
});
