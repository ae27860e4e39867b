import { existsSync, linkSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { ConversionError } from '../../shared/errors.ts';
import { folderOf } from '../storage.ts';

interface DiskQuotaOptions {
  /** Contains a folder per account, with an empty file per result whose name ends with the result's size. */
  readonly directory: string;
  /** Maximum bytes per account. 0 means no limit. */
  readonly max: number;
}

/** Seconds until some results may have expired. */
const RETRY_TIME = 3600;
/** Minimum bytes that a result counts: a block for its content, and one for the file system's metadata. */
const MIN_COUNTED_BYTES = 8192;
/** Number of files that a sweep checks before other work gets its turn, which takes about a millisecond. */
const SLICE = 100;

/** Limits the disk space of each account's results until they expire. The totals survive restarts. */
export class DiskQuota {
  readonly #directory: string;
  readonly #max: number;
  /** Known bytes by account folder. */
  readonly #totals = new Map<string, number>();
  /** Path of the last entry, which may still exist. */
  #last = '';

  constructor({ directory, max }: DiskQuotaOptions) {
    this.#directory = directory;
    this.#max = max;
  }

  /** Reads the totals of all accounts, which would otherwise delay the first call of each. */
  async load(): Promise<void> {
    for (const folder of await readdir(this.#directory).catch(() => [])) {
      const names = await readdir(join(this.#directory, folder)).catch(() => []);
      if (!this.#totals.has(folder)) this.#totals.set(folder, sumOf(names));
    }
  }

  /** Throws `QUOTA_EXCEEDED` if the account has no space for this many more bytes. */
  check(account: string, bytes: number): void {
    if (this.#max === 0) return;
    const total = this.#totalOf(folderOf(account));
    if (total + bytes <= this.#max) return;
    const message = `The stored results of this account take ${mebibytes(total)} of at most ${mebibytes(this.#max)} MiB, and this one does not fit. Retry when some have expired, or delete some.`;
    throw new ConversionError('QUOTA_EXCEEDED', message, { retryAfter: RETRY_TIME });
  }

  /** Counts a result that is stored under this name on disk. Throws as `check` does. */
  add(account: string, name: string, bytes: number): void {
    const entry = `${name}.${bytes}`;
    this.check(account, sizeOf(entry));
    const folder = folderOf(account);
    mkdirSync(join(this.#directory, folder), { recursive: true, mode: 0o700 });
    const total = this.#totalOf(folder);
    this.#writeEmpty(join(this.#directory, folder, entry));
    this.#totals.set(folder, total + sizeOf(entry));
  }

  /** Stops counting a file that was deleted before it expired. */
  remove(account: string, name: string, bytes: number): void {
    const entry = `${name}.${bytes}`;
    const folder = folderOf(account);
    const path = join(this.#directory, folder, entry);
    if (!existsSync(path)) return;
    const total = this.#totalOf(folder);
    rmSync(path, { force: true });
    this.#totals.set(folder, total - sizeOf(entry));
  }

  /** Reads the names and sizes of the results of one account, or of all. */
  async *entries(account?: string): AsyncGenerator<{ readonly name: string; readonly size: number }> {
    const folders =
      account === undefined ? await readdir(this.#directory).catch(() => []) : [folderOf(account)];
    for (const folder of folders) {
      const names = await readdir(join(this.#directory, folder)).catch(() => []);
      for (const [index, entry] of names.entries()) {
        if (index % SLICE === 0) await setImmediate();
        yield { name: entryName(entry), size: bytesOf(entry) };
      }
    }
  }

  /** Removes results that no longer exist. */
  async sweep(exists: (name: string) => boolean): Promise<void> {
    for (const folder of await readdir(this.#directory).catch(() => [])) {
      const path = join(this.#directory, folder);
      const names = await readdir(path).catch(() => []);
      for (const [index, entry] of names.entries()) {
        if (index % SLICE === 0) await setImmediate();
        // Another call may have removed the entry, and its bytes, since the names were read.
        if (exists(entryName(entry)) || !existsSync(join(path, entry))) continue;
        rmSync(join(path, entry), { force: true });
        const total = this.#totals.get(folder);
        if (total !== undefined) this.#totals.set(folder, total - sizeOf(entry));
      }
    }
  }

  /** Links to the last empty file if possible, because creating a file takes ten times as long. */
  #writeEmpty(path: string): void {
    try {
      linkSync(this.#last, path);
    } catch {
      // There is no such file yet, it was deleted or has the maximum number of links, or the file system does not
      // support links.
      writeFileSync(path, '');
      this.#last = path;
    }
  }

  #totalOf(folder: string): number {
    const known = this.#totals.get(folder);
    if (known !== undefined) return known;
    const total = sumOf(entries(join(this.#directory, folder)));
    this.#totals.set(folder, total);
    return total;
  }
}

function entryName(entry: string): string {
  return entry.slice(0, entry.lastIndexOf('.'));
}

function bytesOf(entry: string): number {
  return Number(entry.slice(entry.lastIndexOf('.') + 1)) || 0;
}

function sizeOf(entry: string): number {
  return Math.max(MIN_COUNTED_BYTES, bytesOf(entry));
}

function sumOf(names: readonly string[]): number {
  return names.reduce((sum, entry) => sum + sizeOf(entry), 0);
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function mebibytes(bytes: number): number {
  return Math.round((10 * bytes) / 2 ** 20) / 10;
}
