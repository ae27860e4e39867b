import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../../../functions/platform/local/database.ts';
import { createSqliteRecords } from '../../../../functions/platform/local/records.ts';
import { describeRecords } from '../records/contract.ts';

describeRecords('SQLite', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'records-'));
  const database = openDatabase(join(directory, 'docmill.db'));
  return {
    records: createSqliteRecords(database),
    close: async () => {
      database.close();
      await rm(directory, { recursive: true });
    },
  };
});
