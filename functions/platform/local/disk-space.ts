import { statfsSync } from 'node:fs';
import { ConversionError } from '../../shared/errors.ts';
import type { MachineStatus } from '../invoke.ts';
import { folderOf } from '../storage.ts';
import type { Item, Table } from '../table.ts';

/** Maximum bytes to keep free on each file system, of which a tenth is kept free. */
const MAX_RESERVE = 2 ** 30;
/** Seconds until some results may have expired, or running conversions have ended. */
const RETRY_TIME = 60;

/**
 * Rejects conversions while a file system has too little free space. Running conversions may use the rest, so that
 * they do not fail because of others.
 */
export class FreeSpace {
  readonly #directories: Readonly<Record<string, string>>;

  /** `directories` exist, by the kind of their content. They may be on the same file system. */
  constructor(directories: Readonly<Record<string, string>>) {
    this.#directories = directories;
  }

  /** Whether the space is insufficient for another conversion. Synchronous: takes a few microseconds. */
  get isLow(): boolean {
    return Object.values(this.#directories).some((directory) => {
      const { free, size } = spaceOf(directory);
      return free < Math.min(MAX_RESERVE, size / 10);
    });
  }

  get status(): MachineStatus {
    return this.isLow ? 'full' : 'up';
  }

  /** Throws `OVERLOADED` if there is not enough space for another conversion. */
  check(): void {
    if (this.isLow) throw diskFullError(this.free());
  }

  /** Returns the free bytes, by the kind of the directories' content. */
  free(): Readonly<Record<string, number>> {
    const entries = Object.entries(this.#directories);
    return Object.fromEntries(entries.map(([name, directory]) => [name, spaceOf(directory).free]));
  }
}

/** Returns the default limit for an account's results in bytes: a quarter of the disk, at most 10 GiB. */
export function defaultShare(directory: string): number {
  return Math.min(10 * 2 ** 30, Math.floor(diskSize(directory) / 4));
}

/** Returns the bytes of the whole file system of a directory. */
export function diskSize(directory: string): number {
  return spaceOf(directory).size;
}

/** Returns the error for the caller. Its cause tells the operator the free bytes of each directory. */
export function diskFullError(free: Readonly<Record<string, number>>): ConversionError {
  const message = `The service has too little free disk space. Retry in ${RETRY_TIME} seconds.`;
  const cause = Object.assign(new Error(`free bytes: ${JSON.stringify(free)}`), { code: 'ENOSPC' });
  return new ConversionError('OVERLOADED', message, { cause, retryAfter: RETRY_TIME });
}

/** Returns the bytes of the whole file system, and the bytes that this user may still write. */
function spaceOf(directory: string): { readonly free: number; readonly size: number } {
  try {
    const { bavail, blocks, bsize } = statfsSync(directory);
    return { free: bavail * bsize, size: blocks * bsize };
  } catch {
    // A missing directory is reported by whatever writes to it.
    return { free: Number.POSITIVE_INFINITY, size: Number.POSITIVE_INFINITY };
  }
}

/** Seconds until some results may have expired. */
const RETRY_AFTER = 3600;
/** Minimum bytes that a result counts: a block for its content, and one for the file system's metadata. */
const MIN_COUNTED_BYTES = 8192;
const PREFIX = 'stored#';

/** Limits the disk space of each account's results until they expire. Each result is an item of the table. */
export class DiskQuota {
  readonly #table: Table;
  readonly #max: number;
  /** Counted bytes by account. */
  readonly #totals = new Map<string, number>();

  /** `max` is the maximum number of bytes per account. 0 means no limit. */
  constructor(table: Table, max: number) {
    this.#table = table;
    this.#max = max;
  }

  /** Counts the results of all accounts. Call it once, before any other method. */
  async load(): Promise<void> {
    for await (const item of this.#table.list(PREFIX)) this.#count(accountIn(item), Number(item.bytes));
  }

  /** Throws `QUOTA_EXCEEDED` if the account has no space for this many more bytes. */
  check(account: string, bytes: number): void {
    if (this.#max === 0) return;
    const total = this.#totals.get(folderOf(account)) ?? 0;
    if (total + bytes <= this.#max) return;
    const message = `The stored results of this account take ${mebibytes(total)} of at most ${mebibytes(this.#max)} MiB, and this one does not fit. Retry when some have expired, or delete some.`;
    throw new ConversionError('QUOTA_EXCEEDED', message, { retryAfter: RETRY_AFTER });
  }

  /** Counts a result that is stored under this name on disk. Throws as `check` does. */
  async add(account: string, name: string, bytes: number): Promise<void> {
    this.check(account, countedBytes(bytes));
    this.#count(folderOf(account), bytes);
    try {
      await this.#table.put({ id: idOf(folderOf(account), name), bytes });
    } catch (thrown) {
      this.#count(folderOf(account), bytes, -1);
      throw thrown;
    }
  }

  /** Stops counting a file that was deleted before it expired. */
  async remove(account: string, name: string): Promise<void> {
    await this.#remove(idOf(folderOf(account), name));
  }

  /** Reads the names and sizes of the results of one account, or of all. */
  async *entries(account?: string): AsyncGenerator<{ readonly name: string; readonly size: number }> {
    const prefix = account === undefined ? PREFIX : idOf(folderOf(account), '');
    for await (const item of this.#table.list(prefix)) yield { name: nameIn(item), size: Number(item.bytes) };
  }

  /** Removes results that no longer exist. */
  async sweep(exists: (name: string) => boolean): Promise<void> {
    for await (const item of this.#table.list(PREFIX)) if (!exists(nameIn(item))) await this.#remove(item.id);
  }

  async #remove(id: string): Promise<void> {
    // Another call may have removed it, and its bytes, meanwhile.
    const removed = await this.#table.remove(id);
    if (removed) this.#count(accountIn(removed), Number(removed.bytes), -1);
  }

  #count(account: string, bytes: number, sign = 1): void {
    this.#totals.set(account, (this.#totals.get(account) ?? 0) + sign * countedBytes(bytes));
  }
}

function idOf(account: string, name: string): string {
  return `${PREFIX}${account}#${name}`;
}

function accountIn({ id }: Item): string {
  return id.split('#')[1]!;
}

function nameIn({ id }: Item): string {
  return id.split('#')[2]!;
}

function countedBytes(bytes: number): number {
  return Math.max(MIN_COUNTED_BYTES, bytes);
}

function mebibytes(bytes: number): number {
  return Math.round((10 * bytes) / 2 ** 20) / 10;
}
