import { join } from 'node:path';

/** Returns the paths of the server's files in its data directory, beside the database of `openStores`. */
export function pathsIn(directory: string) {
  return {
    results: join(directory, 'results'),
    /** The secret that signs the URLs of results. */
    secret: join(directory, 'address-secret'),
    lock: join(directory, 'server.lock'),
    /** Process ID of the server that holds the lock. */
    pid: join(directory, 'server.pid'),
  };
}
