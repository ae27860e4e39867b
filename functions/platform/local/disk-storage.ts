import { createHash, createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';
import { createWriteStream, existsSync, mkdirSync, renameSync } from 'node:fs';
import { copyFile, lstat, readdir, rename, rm, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  ConversionError,
  emptySourceError,
  resultTooLargeError,
  sourceTooLargeError,
} from '../../shared/errors.ts';
import { createFairQueue } from '../../shared/fair-queue.ts';
import {
  DEMO_PREFIX,
  type GrantRequest,
  invalidFormError,
  ONCE_PREFIX,
  type Put,
  type Storage,
  UPLOAD_LIFETIME,
  UPLOAD_PREFIX,
  type Uploads,
  type UploadTarget,
} from '../storage.ts';
import type { Table } from '../table.ts';
import { DiskQuota, diskFullError, type FreeSpace } from './disk-space.ts';

interface DiskGrant extends Record<string, unknown>, Omit<GrantRequest, 'lifetime'> {
  /** Time on this process's monotonic clock, so that conversions survive changes of the system clock. */
  readonly expires: number;
  readonly signature: string;
}

type StoredUploads = Required<Pick<Uploads, 'receive' | 'exists' | 'keep' | 'remove'>>;

export interface DiskStorage extends StoredUploads {
  /** The router's side. URLs are below `base`, such as `http://localhost:3000/files`, and expire after `lifetime` seconds. */
  at(base: string, lifetime?: number): Storage;
  /** The router's side of uploads. Forms are sent to `url`. */
  uploadsAt(url: string): Uploads;
  /** The tool's side. Moves a file into the storage. */
  readonly put: Put;
  /**
   * Returns the path of the object that a URL names, 403 for an invalid or expired signature, or 404 for a deleted
   * object.
   */
  open(signed: { objectKey: string; expires: string; signature: string }): Promise<OpenedObject>;
  /** Deletes a result that has been sent. The next sweep stops counting it. */
  removeSent(objectKey: string): Promise<void>;
  /** Reads the totals of stored results. Call it once, before any other method. */
  load(): Promise<void>;
  /** Returns the bytes of results, and the bytes of uploads and demo results. */
  inUse(): Promise<{ readonly results: number; readonly uploads: number }>;
  /** Deletes all results and uploads of an account. */
  removeAll(account: string): Promise<void>;
  /** Deletes results older than `age` milliseconds. Uploads, results of demo conversions and those that are sent once are deleted after `shortAge`. */
  sweep(age: number, shortAge?: number): Promise<void>;
}

type OpenedObject = { readonly status: 200; readonly path: string } | { readonly status: 403 | 404 };

interface FormPolicy extends UploadTarget {
  readonly expires: number;
}

/** Prefix of the names of files that are deleted sooner. */
const MARK = 'demo-';
/** Maximum number of signatures to keep. */
const MAX_SIGNATURES = 5000;
const SHORT_LIVED = [DEMO_PREFIX, ONCE_PREFIX, UPLOAD_PREFIX];
/** Maximum concurrent uploads per account. Further ones wait, each with up to 0.2 MB buffered. */
const UPLOADS = 16;
const WAITING_UPLOADS = 250;
/**
 * Number of bytes of an upload after which the free space is checked again, because others write to the disk
 * meanwhile.
 */
const SPACE_INTERVAL = 2 ** 22;
const TOO_MANY_UPLOADS = 'Too many uploads are waiting. Send fewer at once.';
/** Suffix of the name of an incomplete copy. */
const PART = '.part';

/**
 * Stores objects in a directory under the hash of their key, which may contain any characters. Grants and URLs are
 * signed with HMAC-SHA256 and expire.
 */
export function createDiskStorage({
  directory,
  secret,
  urlLifetime,
  accountBytes = 0,
  space,
  table,
}: {
  directory: string;
  secret: Buffer;
  /** Lifetime of a URL in seconds. */
  urlLifetime: number;
  /** Maximum bytes of an account's stored results. 0 means no limit. */
  accountBytes?: number;
  /** Checked before each conversion. */
  space?: FreeSpace;
  /** Records the results of each account. */
  table: Table;
}): DiskStorage {
  const quota = new DiskQuota(table, accountBytes);
  const filePathFor = (objectKey: string) => {
    const name = createHash('sha256').update(objectKey).digest('hex');
    const isShortLived = SHORT_LIVED.some((prefix) => objectKey.startsWith(prefix));
    return join(directory, isShortLived ? `${MARK}${name}` : name);
  };
  const uploads = createFairQueue({
    total: Infinity,
    perAccount: UPLOADS,
    maxWaiting: WAITING_UPLOADS,
    tooMany: () => new ConversionError('RATE_LIMITED', TOO_MANY_UPLOADS, { retryAfter: 1 }),
  });
  const key = createSecretKey(secret);
  const sign = (purpose: string, ...facts: ReadonlyArray<string | number>) =>
    createHmac('sha256', key)
      .update(JSON.stringify([purpose, ...facts]))
      .digest('hex');

  /** Signatures of this second. Callers who share a conversion get the same hundreds of URLs. */
  const signatures = new Map<string, string>();
  let signedUntil = 0;
  const signAddress = (objectKey: string, expires: number) => {
    if (expires !== signedUntil || signatures.size >= MAX_SIGNATURES) signatures.clear();
    signedUntil = expires;
    const signature = signatures.get(objectKey) ?? sign('address', objectKey, expires);
    signatures.set(objectKey, signature);
    return signature;
  };

  const stored: StoredUploads = {
    receive: ({ objectKey, account, maxBytes, content }, signal) =>
      uploads.run(
        account,
        async () => {
          space?.check();
          quota.check(account, 1);
          mkdirSync(directory, { recursive: true, mode: 0o700 });
          const place = filePathFor(objectKey);
          if (existsSync(place)) throw usedFormError();
          const part = place + PART;
          // Another upload with the same form may be writing it.
          let isOwn = false;
          let isCounted = false;
          let bytes = 0;
          const count = new Transform({
            transform(chunk: Buffer, _encoding, done) {
              const intervals = Math.floor(bytes / SPACE_INTERVAL);
              bytes += chunk.length;
              const isDue = Math.floor(bytes / SPACE_INTERVAL) > intervals;
              if (isDue && space?.isLow) done(diskFullError(space.free()));
              else done(bytes > maxBytes ? sourceTooLargeError(maxBytes) : null, chunk);
            },
          });
          const file = createWriteStream(part, { flags: 'wx', mode: 0o600 }).once('open', () => {
            isOwn = true;
          });
          try {
            await pipeline(content, count, file, { signal });
            if (bytes === 0) throw emptySourceError();
            await quota.add(account, basename(place), bytes);
            isCounted = true;
            renameSync(part, place);
            return bytes;
          } catch (thrown) {
            if (isCounted) await quota.remove(account, basename(place));
            if (isOwn) await rm(part, { force: true });
            throw (thrown as NodeJS.ErrnoException).code === 'EEXIST' ? usedFormError() : thrown;
          }
        },
        signal,
      ),

    async exists(objectKey) {
      const found = await lstat(filePathFor(objectKey)).catch(() => undefined);
      return found?.isFile() === true && Date.now() - found.mtimeMs <= UPLOAD_LIFETIME;
    },

    // An upload ends a fixed time after its file was changed.
    async keep(objectKey, until) {
      await utimes(filePathFor(objectKey), new Date(), new Date(until - UPLOAD_LIFETIME));
    },

    async remove({ objectKey, account }) {
      const place = filePathFor(objectKey);
      if (!existsSync(place)) return;
      await rm(place, { force: true });
      await quota.remove(account, basename(place));
    },
  };

  return {
    ...stored,

    uploadsAt: (url) => ({
      ...stored,
      form: async (target) => {
        const text = JSON.stringify({ ...target, expires: Date.now() + UPLOAD_LIFETIME });
        const policy = Buffer.from(text).toString('base64url');
        return { url, fields: { policy, signature: sign('form', policy) } };
      },
      readForm(fields) {
        const policy = fields.get('policy') ?? '';
        const isValid = same(fields.get('signature'), sign('form', policy));
        const target = isValid && (JSON.parse(Buffer.from(policy, 'base64url').toString()) as FormPolicy);
        if (target && target.expires > Date.now()) return target;
        throw invalidFormError();
      },
    }),

    at: (base, lifetime = urlLifetime) => ({
      urlLifetime: lifetime,
      grant: async ({ prefix, maxBytes, contentType, account, ...granted }) => {
        // Rejects the conversion before it begins.
        quota.check(account, 1);
        space?.check();
        const expires = performance.now() + granted.lifetime;
        const signature = sign('grant', prefix, maxBytes, expires, contentType, account);
        return { prefix, maxBytes, expires, contentType, account, signature };
      },
      exists: (objectKey) => isFile(filePathFor(objectKey)),
      remove: stored.remove,
      url: async (objectKey) => {
        const expires = Math.floor(Date.now() / 1000) + lifetime;
        const path = objectKey.split('/').map(encodeURIComponent).join('/');
        return `${base}/${path}?expires=${expires}&signature=${signAddress(objectKey, expires)}`;
      },
    }),

    async put(grant, file, signal) {
      signal.throwIfAborted();
      const { prefix, maxBytes, expires, contentType, account, signature } = grant as DiskGrant;
      const valid = same(signature, sign('grant', prefix, maxBytes, expires, contentType, account));
      if (!valid || expires <= performance.now() || file.contentType !== contentType) {
        throw new Error(
          'The storage rejected a result: its grant is invalid, has expired or is for another type.',
        );
      }
      if (file.bytes > maxBytes) {
        throw resultTooLargeError(maxBytes);
      }
      if (/[/\\\0]|^\.\.?$/.test(file.name)) {
        throw new Error('The storage rejected a result: its name is not below its prefix.');
      }
      const objectKey = prefix + file.name;
      const place = filePathFor(objectKey);
      await quota.add(account, basename(place), file.bytes);
      try {
        mkdirSync(directory, { recursive: true, mode: 0o700 });
        await move(file.path, place);
      } catch (thrown) {
        await quota.remove(account, basename(place));
        throw thrown;
      }
      return objectKey;
    },

    async open({ objectKey, expires, signature }) {
      const valid =
        /^\d{1,12}$/.test(expires) && same(signature, sign('address', objectKey, Number(expires)));
      if (!valid || Number(expires) * 1000 <= Date.now()) return { status: 403 };
      const path = filePathFor(objectKey);
      const found = objectKey.startsWith(UPLOAD_PREFIX) ? await stored.exists(objectKey) : await isFile(path);
      return found ? { status: 200, path } : { status: 404 };
    },

    removeSent: (objectKey) => rm(filePathFor(objectKey), { force: true }),

    load: () => quota.load(),

    async inUse() {
      const bytes = { results: 0, uploads: 0 };
      for await (const { name, size } of quota.entries())
        bytes[name.startsWith(MARK) ? 'uploads' : 'results'] += size;
      return bytes;
    },

    removeAll: (account) => removeFilesOf(account, directory, quota),

    async sweep(age, shortAge = age) {
      for (const name of await readdir(directory).catch(noneIfMissing)) {
        const path = join(directory, name);
        const found = await lstat(path).catch(() => undefined);
        if (found && Date.now() - found.mtimeMs > (name.startsWith(MARK) ? shortAge : age))
          await rm(path, { recursive: true, force: true });
      }
      // A result that is being copied from another file system has already been counted.
      await quota.sweep((name) => ['', PART].some((end) => existsSync(join(directory, name + end))));
    },
  };
}

/** Deletes all files of an account, and stops counting them. */
export async function removeFilesOf(account: string, directory: string, quota: DiskQuota): Promise<void> {
  for await (const { name } of quota.entries(account)) {
    await rm(join(directory, name), { force: true });
    await quota.remove(account, name);
  }
}

async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => undefined))?.isFile() === true;
}

function usedFormError(): ConversionError {
  return new ConversionError('BAD_PARAMETER', 'The form of this upload has been used already.');
}

/** Returns an empty list if no result has been stored yet. */
function noneIfMissing(error: NodeJS.ErrnoException): string[] {
  if (error.code === 'ENOENT') return [];
  throw error;
}

function same(actual: unknown, expected: string): boolean {
  const bytes = Buffer.from(String(actual));
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}

async function move(from: string, to: string): Promise<void> {
  try {
    // Synchronous: the response waits for it, and the thread pool takes several times as long.
    renameSync(from, to);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EXDEV') throw thrown;
    // A copy from another file system gets its final name only when it is complete.
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
