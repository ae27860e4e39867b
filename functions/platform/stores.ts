import { createPrefixes } from '../buckets/prefixes.ts';
import { createJobs } from '../jobs/store.ts';
import { createWebhookSecrets } from '../jobs/webhooks/secrets.ts';
import { createAccounts } from './accounts.ts';
import { createIdempotency } from './idempotency.ts';
import { createKeys } from './key-store.ts';
import { createLimiter } from './limiter.ts';
import type { Table } from './table.ts';
import { createFailures, createUsage } from './usage.ts';

export type Stores = ReturnType<typeof createStores>;

/** Creates the stores of a deployment. `counts` may be a faster table that loses the latest changes in a power failure. */
export function createStores(table: Table, tools: readonly string[], counts = table) {
  return {
    keys: createKeys(table),
    accounts: createAccounts(table),
    audit: createAudit(table),
    records: createRecords(table),
    limiter: createLimiter(counts),
    usage: createUsage(counts, tools),
    failures: createFailures(counts),
    idempotency: createIdempotency(counts),
    jobs: createJobs(table, counts),
    webhookSecrets: createWebhookSecrets(table),
    prefixes: createPrefixes(table),
  };
}

/** Key-value store of the site: sessions and one-time links. */
export interface Records {
  /** Stores a text unless an unexpired one exists. Returns whether it did. `expires` is in epoch milliseconds. */
  add(name: string, text: string, expires?: number): Promise<boolean>;
  /** Stores a text that does not expire, replacing any other. */
  set(name: string, text: string): Promise<void>;
  /** Returns a text unless it has expired. */
  get(name: string): Promise<string | undefined>;
  /** Deletes a text and returns it. Of several concurrent callers, only one gets it. */
  take(name: string): Promise<string | undefined>;
  /** Deletes every text that is one of these, or contains one as a JSON string. On AWS this reads the whole table. */
  erase(values: readonly string[]): Promise<number>;
}

function createRecords(table: Table): Records {
  const idOf = (name: string) => `site#${name}`;
  return {
    add: (name, content, expires) => table.put({ id: idOf(name), content, expires }, { id: 'absent' }),
    set: async (name, content) => void (await table.put({ id: idOf(name), content })),
    get: async (name) => (await table.get(idOf(name)))?.content as string | undefined,
    take: async (name) => (await table.remove(idOf(name)))?.content as string | undefined,
    async erase(values) {
      const isWanted = (text: string) =>
        values.some((value) => text === value || text.includes(JSON.stringify(value)));
      let erased = 0;
      for await (const { id, content } of table.list(idOf('')))
        if (isWanted(String(content)) && (await table.remove(id))) erased += 1;
      return erased;
    },
  };
}

/** An audited operator action. */
export interface AuditEntry {
  /** Sequence number, from 1. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly time: number;
  /** Email address of the operator, or the user of this machine who ran a command. */
  readonly actor: string;
  /** A verb and its object, such as `disable account`. */
  readonly action: string;
  /** The account, key or email address that was changed. */
  readonly subject: string;
  /** New values, such as `perMonth=100`. */
  readonly details: string;
  /** IP address, or `command line`. */
  readonly from: string;
}

type NewAuditEntry = Omit<AuditEntry, 'number' | 'time'>;

/** Maximum number of entries per read. */
const AUDIT_PAGE = 50;

/** Records what operators do. No entry is ever deleted. */
export interface AuditLog {
  append(entry: NewAuditEntry): Promise<void>;
  /** Returns the newest entries, or the newest before the given number, newest first. */
  read(before?: number): Promise<AuditEntry[]>;
  /** Replaces an email address in all entries, and removes the IP address of its actions. Returns their number. */
  replace(email: string, pseudonym: string): Promise<number>;
}

/** ID of the item that counts the entries. */
const COUNTER = 'audit';
const idOf = (number: number) => `audit#${number}`;

/** Keeps entries as numbered items, so that the newest can be read without a search. */
function createAudit(table: Table): AuditLog {
  return {
    async append(entry) {
      const counter = await table.update(COUNTER, { add: { entries: 1 } });
      const number = Number(counter!.entries);
      const isNew = await table.put(
        { ...entry, id: idOf(number), number, time: Date.now() },
        { id: 'absent' },
      );
      if (!isNew) throw new Error(`The log already has the entry ${number}.`);
    },
    async read(before) {
      const last = before === undefined ? Number((await table.get(COUNTER))?.entries ?? 0) : before - 1;
      const ids = Array.from({ length: Math.min(AUDIT_PAGE, last) }, (_, index) => idOf(last - index));
      const entries = (await table.getAll(ids)).map(({ id: _, ...entry }) => entry as unknown as AuditEntry);
      return entries.sort((a, b) => b.number - a.number);
    },
    async replace(email, pseudonym) {
      // Not as a part of another address.
      const whole = new RegExp(`(?<![^\\s"'<(])${email.replaceAll(/\W/g, '\\$&')}(?![^\\s"'>),;])`, 'g');
      let replaced = 0;
      for (let page = await this.read(); page.length > 0; page = await this.read(page.at(-1)!.number))
        for (const entry of page) {
          const from = entry.actor === email ? pseudonym : entry.from;
          const [actor, subject, details] = [entry.actor, entry.subject, entry.details].map((text) =>
            text.replaceAll(whole, pseudonym),
          );
          const changed = { ...entry, actor, subject, details, from };
          if (JSON.stringify(changed) === JSON.stringify(entry)) continue;
          await table.replace({ ...changed, id: idOf(entry.number) });
          replaced += 1;
        }
      return replaced;
    },
  };
}
