import type { Table } from './table.ts';

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

/** Records what operators do. No method changes or deletes an entry. */
export interface AuditLog {
  append(entry: NewAuditEntry): Promise<void>;
  /** Returns the newest entries, or the newest before the given number, newest first. */
  read(before?: number): Promise<AuditEntry[]>;
}

/** ID of the item that counts the entries. */
const COUNTER = 'audit';
const idOf = (number: number) => `audit#${number}`;

/** Keeps entries as numbered items, so that the newest can be read without a search. */
export function createAudit(table: Table): AuditLog {
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
  };
}
