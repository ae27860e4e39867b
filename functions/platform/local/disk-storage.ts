import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { copyFile, lstat, readdir, rename, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ConversionError } from '../../shared/errors.ts';
import { DEMO_PREFIX, type Grant, type GrantRequest, type Put, type Storage } from '../storage.ts';
import { DiskQuota } from './disk-quota.ts';

interface DiskGrant extends Grant, GrantRequest {
  readonly signature: string;
}

export interface DiskStorage {
  /** The router's side, with URLs below `base`, such as `http://localhost:3000/files`. */
  at(base: string): Storage;
  /** The tool's side. It moves the file into the storage. */
  readonly put: Put;
  /**
   * Returns the path of the object that a URL names, 403 for an invalid or expired signature, or 404 for a
   * deleted object.
   */
  open(signed: { objectKey: string; expires: string; signature: string }): Promise<OpenedObject>;
  /** Reads what is stored. Until then, the first call of each account does. */
  load(): Promise<void>;
  /** Deletes objects older than `age` milliseconds, and those below `demo/` older than `shortAge`. */
  sweep(age: number, shortAge?: number): Promise<void>;
}

export type OpenedObject = { readonly status: 200; readonly path: string } | { readonly status: 403 | 404 };

/** Marks the files of demo conversions. */
const MARK = 'demo-';
/** Ends the name of an incomplete copy. */
const PART = '.part';

/**
 * Stores objects in a directory under the hash of their key, which may contain any characters. Grants and URLs are signed
 * with HMAC-SHA256 and expire.
 */
export function createDiskStorage({
  directory,
  secret,
  urlLifetime,
  accountBytes = 0,
}: {
  directory: string;
  secret: Buffer;
  /** Lifetime of a URL in seconds. */
  urlLifetime: number;
  /** Maximum bytes of one account's stored results. 0 is no limit. */
  accountBytes?: number;
}): DiskStorage {
  const quota = new DiskQuota({ directory: `${directory}-by-account`, max: accountBytes });
  const placeOf = (objectKey: string) => {
    const name = createHash('sha256').update(objectKey).digest('hex');
    return join(directory, objectKey.startsWith(DEMO_PREFIX) ? `${MARK}${name}` : name);
  };
  const key = createSecretKey(secret);
  const sign = (purpose: string, ...facts: ReadonlyArray<string | number>) =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, ...facts]))
      .digest('hex');

  return {
    at: (base) => ({
      grant: async ({ prefix, maxBytes, expires, contentType, account }) => {
        // Before the work begins.
        quota.check(account, 1);
        const signature = sign('grant', prefix, maxBytes, expires, contentType, account);
        return { prefix, maxBytes, expires, contentType, account, signature };
      },
      url: async (objectKey) => {
        const expires = Math.floor(Date.now() / 1000) + urlLifetime;
        const path = objectKey.split('/').map(encodeURIComponent).join('/');
        return `${base}/${path}?expires=${expires}&signature=${sign('address', objectKey, expires)}`;
      },
    }),

    async put(grant, file, signal) {
      signal.throwIfAborted();
      const { prefix, maxBytes, expires, contentType, account, signature } = grant as DiskGrant;
      const valid = same(signature, sign('grant', prefix, maxBytes, expires, contentType, account));
      if (!valid || expires <= Date.now() || file.contentType !== contentType) {
        throw new Error(
          'The storage rejected a result: its grant is invalid, has expired or is for another type.',
        );
      }
      if (file.bytes > maxBytes) {
        throw new ConversionError('RESULT_TOO_LARGE', `The result is larger than ${maxBytes} bytes.`);
      }
      if (/[/\\\0]|^\.\.?$/.test(file.name)) {
        throw new Error('The storage rejected a result: its name is not below its prefix.');
      }
      const objectKey = prefix + file.name;
      const place = placeOf(objectKey);
      quota.add(account, basename(place), file.bytes);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      await move(file.path, place);
      return objectKey;
    },

    async open({ objectKey, expires, signature }) {
      const valid =
        /^\d{1,12}$/.test(expires) && same(signature, sign('address', objectKey, Number(expires)));
      if (!valid || Number(expires) * 1000 <= Date.now()) return { status: 403 };
      const path = placeOf(objectKey);
      const found = await lstat(path).catch(() => undefined);
      return found?.isFile() ? { status: 200, path } : { status: 404 };
    },

    load: () => quota.load(),

    async sweep(age, shortAge = age) {
      for (const name of await readdir(directory).catch(noneIfMissing)) {
        const path = join(directory, name);
        const found = await lstat(path).catch(() => undefined);
        if (found && Date.now() - found.mtimeMs > (name.startsWith(MARK) ? shortAge : age))
          await rm(path, { recursive: true, force: true });
      }
      // A result that is being copied from another file system has been counted already.
      await quota.sweep((name) => ['', PART].some((end) => existsSync(join(directory, name + end))));
    },
  };
}

/** No result has been stored yet. */
function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

function same(given: unknown, expected: string): boolean {
  const bytes = Buffer.from(String(given));
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}

async function move(from: string, to: string): Promise<void> {
  try {
    // Synchronous: the response waits for it, and the thread pool takes several times as long.
    renameSync(from, to);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EXDEV') throw thrown;
    // On another file system the copy gets its final name only when it is complete.
    const part = to + PART;
    try {
      await copyFile(from, part);
      await rename(part, to);
    } catch (failed) {
      await rm(part, { force: true });
      throw failed;
    }
  }
}
