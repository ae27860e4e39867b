import { join } from 'node:path';
import { createSqliteTable, openDatabase } from '../../functions/platform/local/database.ts';
import type { Table } from '../../functions/platform/table.ts';

/** Opens the table of a database in a directory, until the process ends. */
export function openTable(directory: string): Table {
  const database = openDatabase(join(directory, 'docmill.db'));
  return createSqliteTable(database, database.transaction);
}
