import { join } from 'node:path';
import { folderOfAccounts } from '../../functions/platform/local/disk-storage.ts';

/** Returns the paths of the server's files in its data directory, beside the database of `openStores`. */
export function pathsIn(directory: string) {
  const results = join(directory, 'results');
  return {
    results,
    accounts: folderOfAccounts(results),
    /** The secret that signs the URLs of results. */
    secret: join(directory, 'address-secret'),
    lock: join(directory, 'server.lock'),
    /** Process ID of the server that holds the lock. */
    pid: join(directory, 'server.pid'),
  };
}
