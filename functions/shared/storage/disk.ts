import { createHmac, timingSafeEqual } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve, sep } from 'node:path';
import { ConversionError } from '../errors.ts';
import type { GrantRequest, Put, Storage } from './storage.ts';

type DiskGrant = GrantRequest & { readonly signature: string };

export interface DiskStorage {
  /** The router's side, with addresses below `base`, e.g. `http://localhost:3000/files`. */
  at(base: string): Storage;
  /** The tool's side: moves the file into the storage. */
  readonly put: Put;
  /** Answers the path of the object an address names: 403 for a wrong signature or an ended life, 404 for no such object. */
  open(address: { objectKey: string; expires: string; signature: string }): Promise<OpenedObject>;
  /** Deletes objects older than `age` milliseconds. */
  sweep(age: number): Promise<void>;
}

export type OpenedObject = { readonly status: 200; readonly path: string } | { readonly status: 403 | 404 };

/** Stores below a directory; grants and addresses are signed with HMAC-SHA256 and expire. */
export function createDiskStorage({
  directory,
  secret,
  addressLife,
}: {
  directory: string;
  secret: Buffer;
  /** Seconds an address lives. */
  addressLife: number;
}): DiskStorage {
  const root = resolve(directory);
  const sign = (purpose: string, ...facts: ReadonlyArray<string | number>) =>
    createHmac('sha256', secret)
      .update(JSON.stringify([purpose, ...facts]))
      .digest('hex');

  return {
    at: (base) => ({
      grant: async ({ prefix, maxBytes, expires, contentType }) => ({
        ...{ prefix, maxBytes, expires, contentType },
        signature: sign('grant', prefix, maxBytes, expires, contentType),
      }),
      address: async (objectKey) => {
        const expires = Math.floor(Date.now() / 1000) + addressLife;
        const path = objectKey.split('/').map(encodeURIComponent).join('/');
        return `${base}/${path}?expires=${expires}&signature=${sign('address', objectKey, expires)}`;
      },
    }),

    async put(grant, file, signal) {
      signal.throwIfAborted();
      const { prefix, maxBytes, expires, contentType, signature } = grant as unknown as DiskGrant;
      const valid = same(signature, sign('grant', prefix, maxBytes, expires, contentType));
      if (!valid || expires <= Date.now() || file.contentType !== contentType) {
        throw new Error(
          'The storage refused a result: its grant is forged, has expired or is for another type.',
        );
      }
      if (file.bytes > maxBytes) {
        throw new ConversionError('RESULT_TOO_LARGE', 'The result is larger than a result may be.');
      }
      const path = inside(join(root, prefix), file.name);
      if (path === undefined) throw new Error('The storage refused a result: its name leaves its prefix.');
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await move(file.path, path);
      return prefix + file.name;
    },

    async open({ objectKey, expires, signature }) {
      const valid = same(signature, sign('address', objectKey, Number(expires)));
      if (!valid || Number(expires) * 1000 <= Date.now()) return { status: 403 };
      const path = inside(root, objectKey);
      if (path === undefined) return { status: 404 };
      const found = await stat(path).catch(() => undefined);
      return found?.isFile() ? { status: 200, path } : { status: 404 };
    },

    async sweep(age) {
      const prefixes = await readdir(root, { withFileTypes: true }).catch(() => []);
      for (const prefix of prefixes) {
        const path = join(root, prefix.name);
        const { mtimeMs } = await stat(path);
        if (Date.now() - mtimeMs > age) await rm(path, { recursive: true, force: true });
      }
    },
  };
}

function inside(directory: string, name: string): string | undefined {
  const path = resolve(directory, name);
  const below = path.startsWith(directory.endsWith(sep) ? directory : directory + sep);
  return below && !name.includes('\0') ? path : undefined;
}

function same(given: unknown, expected: string): boolean {
  const bytes = Buffer.from(String(given));
  return bytes.length === expected.length && timingSafeEqual(bytes, Buffer.from(expected));
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EXDEV') throw thrown;
    // Another file system: the copy appears under its name only when it is whole.
    await copyFile(from, `${to}.part`);
    await rename(`${to}.part`, to);
  }
}
