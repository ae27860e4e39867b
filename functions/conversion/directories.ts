import { randomUUID } from 'node:crypto';
import { lstatSync, readdirSync, renameSync, rmSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateDirectory } from '../shared/private-directory.ts';

/** Maximum number of empty directories to keep. */
const SPARES = 2;

/**
 * The directories of conversions. Creating a directory takes several times as long as renaming one, so empty ones are
 * reused. Each use gets a new name, so that any process still writing to the old one fails.
 */
export class ConversionDirectories {
  readonly #parent: string;
  readonly #spares: string[] = [];

  /** Creates `parent` if it does not exist. */
  constructor(parent: string) {
    this.#parent = parent;
  }

  /** Returns the path of an empty directory. */
  create(): string {
    for (let spare = this.#spares.pop(); spare; spare = this.#spares.pop()) {
      const directory = this.#rename(spare, 'conversion');
      if (directory) return directory;
    }
    return makePrivateDirectory(this.#parent, 'conversion-');
  }

  /** Deletes the directory, if it still exists, or only its content. */
  remove(directory: string): void | Promise<void> {
    const spare = this.#spares.length < SPARES && this.#rename(directory, 'spare');
    if (!spare || !emptyDirectory(spare)) return removeDirectory(spare || directory);
    this.#spares.push(spare);
  }

  /** Returns the new path, or `undefined` if the directory has been deleted. */
  #rename(from: string, kind: string): string | undefined {
    const to = join(this.#parent, `${kind}-${randomUUID()}`);
    try {
      renameSync(from, to);
      return to;
    } catch {
      return undefined;
    }
  }
}

/** Upper bounds for a synchronous delete (a few milliseconds). */
const SYNC_LIMITS = { bytes: 10_000_000, files: 50 };
/** Retries transient errors, such as EMFILE, for about a minute. */
const REPEATED = { maxRetries: 10, retryDelay: 1000 };

/**
 * Deletes the directory of a conversion, if it still exists. A few small files are deleted synchronously, which is
 * five times as fast. Otherwise the event loop is not blocked.
 */
export function removeDirectory(directory: string): void | Promise<void> {
  const options = { recursive: true, force: true };
  try {
    if (quickFiles(directory)) return rmSync(directory, options);
  } catch {
    // Retried below.
  }
  return rm(directory, { ...options, ...REPEATED });
}

/** Deletes the files of a directory if they are few and small. Returns whether the directory is empty now. */
function emptyDirectory(directory: string): boolean {
  try {
    const files = quickFiles(directory);
    for (const file of files ?? []) unlinkSync(file);
    return files !== undefined;
  } catch {
    // It may contain a directory.
    return false;
  }
}

/** Returns the paths in a directory, or `undefined` if deleting them would take longer. */
function quickFiles(directory: string): string[] | undefined {
  const names = readdirSync(directory);
  if (names.length > SYNC_LIMITS.files) return undefined;
  const paths = names.map((name) => join(directory, name));
  const bytes = paths.reduce((sum, path) => sum + lstatSync(path).size, 0);
  return bytes <= SYNC_LIMITS.bytes ? paths : undefined;
}
