import { randomUUID } from 'node:crypto';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { makePrivateDirectory } from '../shared/private-directory.ts';
import { emptyDirectory, removeDirectory } from './remove-directory.ts';

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
