import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../../../functions/platform/local/database.ts';
import { createSqliteUsage } from '../../../../functions/platform/local/usage.ts';
import { describeUsage } from '../usage/contract.ts';

describeUsage('SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'usage-'));
  const database = openDatabase(join(directory, 'docmill.db'));
  return {
    usage: createSqliteUsage(database),
    close: async () => {
      database.close();
      await rm(directory, { recursive: true });
    },
  };
});
