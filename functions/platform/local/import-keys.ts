import { readFileSync, renameSync } from 'node:fs';
import type { Database } from './database.ts';
import { insertKey } from './keys.ts';

/** Moves the keys of earlier versions, a JSON file of hashes, into the database once, and renames the file. */
export function importKeyFile(file: string, { connection, durable, transaction }: Database): number {
  const entries = readEntries(file);
  if (!entries) return 0;
  const stored = connection.prepare('SELECT 1 FROM keys WHERE hash = ?');
  let imported = 0;
  durable(() => {
    for (const [hash, { tenant, expires }] of entries) {
      if (stored.get(hash)) continue;
      const key = { hash, account: tenant, name: 'imported', created: Date.now(), expires };
      insertKey(connection, (work) => work(), { ...key, tools: undefined, limits: {} });
      imported += 1;
    }
  });
  // Renamed last, so that an interrupted import is repeated. Another process may have renamed it already.
  transaction(() => {
    try {
      renameSync(file, `${file}.imported`);
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'ENOENT') throw thrown;
    }
  });
  return imported;
}

function readEntries(file: string): Array<[string, { tenant: string; expires?: number }]> | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`The key file ${file} cannot be read.`, { cause });
  }
  try {
    return Object.entries(JSON.parse(text) as object).map(([hash, entry]) => {
      if (!/^[0-9a-f]{64}$/.test(hash) || typeof entry.tenant !== 'string')
        throw new Error(`The entry ${hash} is not a key.`);
      return [hash, { tenant: entry.tenant, ...readExpiry(hash, entry.expires) }];
    });
  } catch (cause) {
    throw new Error(`The key file ${file} is damaged. Restore it from a backup, or move it away.`, { cause });
  }
}

/** Reads epoch milliseconds, also as text, or a date. A text in the database would never expire. */
function readExpiry(hash: string, given: unknown): { expires?: number } {
  if (given === undefined || given === null) return {};
  const expires =
    typeof given === 'string' && Number.isNaN(Number(given)) ? Date.parse(given) : Number(given);
  if (!Number.isFinite(expires)) throw new Error(`The expiry of the entry ${hash} is not a time.`);
  return { expires };
}
