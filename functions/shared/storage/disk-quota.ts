import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConversionError } from '../errors.ts';

export interface DiskQuotaOptions {
  /** Contains a folder for each account, with an empty file for each result, whose name ends with the result's size. */
  readonly directory: string;
  /** Maximum bytes of one account. 0 is no limit. */
  readonly most: number;
}

/** Seconds after which some results may have expired. */
const RETRY_TIME = 3600;

/** Limits the disk space of each account's results until they expire. Remembers it across restarts. */
export class DiskQuota {
  readonly #directory: string;
  readonly #most: number;
  /** Known bytes by account folder. */
  readonly #totals = new Map<string, number>();

  constructor({ directory, most }: DiskQuotaOptions) {
    this.#directory = directory;
    this.#most = most;
  }

  /** Throws `QUOTA_EXCEEDED` if the account has no space for this many more bytes. */
  check(account: string, bytes: number): void {
    if (this.#most === 0) return;
    const total = this.#totalOf(folderOf(account));
    if (total + bytes <= this.#most) return;
    const message = `The stored results of this account take ${mebibytes(total)} MiB. The maximum is ${mebibytes(this.#most)} MiB. Retry when some have expired.`;
    throw new ConversionError('QUOTA_EXCEEDED', message, { retryAfter: RETRY_TIME });
  }

  /** Counts a result with this name on disk. Throws as `check` does. */
  add(account: string, name: string, bytes: number): void {
    if (this.#most === 0) return;
    this.check(account, bytes);
    const folder = folderOf(account);
    mkdirSync(join(this.#directory, folder), { recursive: true, mode: 0o700 });
    writeFileSync(join(this.#directory, folder, `${name}.${bytes}`), '');
    this.#totals.set(folder, this.#totalOf(folder) + bytes);
  }

  /** Removes the results that no longer exist. */
  sweep(exists: (name: string) => boolean): void {
    for (const folder of entries(this.#directory)) {
      const path = join(this.#directory, folder);
      for (const entry of entries(path))
        if (!exists(nameOf(entry))) rmSync(join(path, entry), { force: true });
      this.#totals.delete(folder);
    }
  }

  #totalOf(folder: string): number {
    const known = this.#totals.get(folder);
    if (known !== undefined) return known;
    const total = entries(join(this.#directory, folder)).reduce((sum, entry) => sum + sizeOf(entry), 0);
    this.#totals.set(folder, total);
    return total;
  }
}

function folderOf(account: string): string {
  return createHash('sha256').update(account).digest('hex').slice(0, 32);
}

function nameOf(entry: string): string {
  return entry.slice(0, entry.lastIndexOf('.'));
}

function sizeOf(entry: string): number {
  return Number(entry.slice(entry.lastIndexOf('.') + 1)) || 0;
}

function entries(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
