import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { makeDirectory } from '../../../functions/shared/storage/make-directory.ts';

const BUSY = 5;

/**
 * Locks the data directory for one server. The lock is held by the kernel through SQLite, so it ends with this process,
 * however it exits.
 * @throws Error that names the other server or the problem with the directory.
 */
export function lockDataDirectory(directory: string): { release(): void } {
  const pidFile = join(directory, 'server.pid');
  try {
    makeDirectory(directory);
    const lock = new DatabaseSync(join(directory, 'server.lock'));
    lock.exec('BEGIN EXCLUSIVE');
    writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
    return { release: () => lock.close() };
  } catch (cause) {
    if (((cause as { errcode?: number }).errcode ?? 0) % 256 === BUSY) {
      throw new Error(
        `Another server (process ${readPid(pidFile)}) is using the data directory ${directory}. Stop it first, or set DATA_DIR to a directory of its own.`,
        { cause },
      );
    }
    throw new Error(
      `The data directory ${directory} cannot be written. Check that the user that runs docmill owns it, and that the disk has space. (${(cause as Error).message})`,
      { cause },
    );
  }
}

function readPid(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return 'unknown';
  }
}
