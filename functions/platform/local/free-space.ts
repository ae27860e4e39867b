import { statfsSync } from 'node:fs';
import { ConversionError } from '../../shared/errors.ts';
import type { MachineStatus } from '../health.ts';

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
    if (this.isLow) throw diskFullError();
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

export function diskFullError(): ConversionError {
  const message = `The service has too little free disk space. Retry in ${RETRY_TIME} seconds.`;
  return new ConversionError('OVERLOADED', message, { retryAfter: RETRY_TIME });
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
