import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { createApiKey, hashApiKey, isWellFormed } from './api-key.ts';
import type { Keys } from './keys.ts';

interface Entry {
  readonly tenant: string;
  /** Epoch milliseconds. */
  readonly expires?: number;
}

export interface FileKeys extends Keys {
  /** Whether no key has been made yet. */
  readonly empty: boolean;
}

/** Keeps the hashes of keys in one JSON file, read again when it has changed. */
export function createFileKeys(file: string): FileKeys {
  let entries = new Map<string, Entry>();
  let readAt = -1;
  const read = () => {
    const { mtimeMs = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
    // Another process may have made or ended a key.
    if (mtimeMs !== readAt) entries = new Map(Object.entries(readEntries(file)));
    readAt = mtimeMs;
    return entries;
  };

  const save = () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(`${file}.new`, JSON.stringify(Object.fromEntries(entries), null, 2), { mode: 0o600 });
    renameSync(`${file}.new`, file);
  };

  return {
    get empty() {
      return read().size === 0;
    },

    async find(apiKey) {
      // Looked up by hash, so the time it takes tells nothing of a stored key.
      const entry = isWellFormed(apiKey) ? read().get(hashApiKey(apiKey)) : undefined;
      if (!entry || (entry.expires !== undefined && entry.expires <= Date.now())) return undefined;
      return { tenant: entry.tenant };
    },

    async create({ expires } = {}) {
      const apiKey = createApiKey();
      read().set(hashApiKey(apiKey), {
        tenant: randomUUID(),
        ...(expires === undefined ? {} : { expires }),
      });
      save();
      return apiKey;
    },

    async revoke(apiKey) {
      if (read().delete(hashApiKey(apiKey))) save();
    },
  };
}

function readEntries(file: string): Record<string, Entry> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, Entry>;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return {};
    throw new Error(`The key file ${file} cannot be read.`, { cause });
  }
}

/** Adds keys that live as long as this object: one given by the operator, or one for a self-check. */
export function withKeys(keys: Keys, given: readonly string[]): Keys {
  const tenants = new Map(
    given.map((apiKey) => [hashApiKey(apiKey), { tenant: hashApiKey(apiKey).slice(0, 16) }]),
  );
  return { ...keys, find: async (apiKey) => tenants.get(hashApiKey(apiKey)) ?? keys.find(apiKey) };
}
