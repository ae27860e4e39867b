import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory } from '../../../functions/platform/local/database.ts';

const BUSY = 5;

/**
 * Locks the data directory for one server. The kernel holds the lock through SQLite, so it is released when this
 * process exits, for whatever reason.
 * @throws Error that names the other server or the problem with the directory.
 */
export function lockDataDirectory(directory: string): { release(): void } {
  const paths = pathsIn(directory);
  try {
    makeDirectory(directory);
    checkAccess(paths);
    const lock = new DatabaseSync(paths.lock);
    lock.exec('BEGIN EXCLUSIVE');
    writeFileSync(paths.pid, `${process.pid}\n`, { mode: 0o600 });
    return { release: () => lock.close() };
  } catch (cause) {
    if (((cause as { errcode?: number }).errcode ?? 0) % 256 === BUSY) {
      throw new Error(
        `Another server (process ${readPid(paths.pid)}) is using the data directory ${directory}. Stop it first, or set DATA_DIR to a directory of its own.`,
        { cause },
      );
    }
    throw new Error(
      `The data directory ${directory} cannot be used. Check that the user that runs docmill (user ID ${process.geteuid?.()}) ` +
        `owns it and everything in it, and that the disk has space. (${(cause as Error).message})`,
      { cause },
    );
  }
}

/**
 * Checks access to files that belong to root if root restored a backup or once ran the server. Without this check,
 * the server would start and fail every conversion.
 */
function checkAccess({ results, secret }: ReturnType<typeof pathsIn>): void {
  makeDirectory(results);
  accessSync(results, constants.R_OK | constants.W_OK | constants.X_OK);
  if (existsSync(secret)) accessSync(secret, constants.R_OK);
}

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}

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
