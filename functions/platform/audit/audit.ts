/** One thing that an operator did. */
export interface AuditEntry {
  /** Counts the entries from 1. */
  readonly number: number;
  /** Epoch milliseconds. */
  readonly time: number;
  /** E-mail of the operator, or the user of this machine who ran a command. */
  readonly actor: string;
  /** A verb and its object, such as `disable account`. */
  readonly action: string;
  /** The account, key or e-mail that it was done to. */
  readonly subject: string;
  /** New values, such as `perMonth=100`. */
  readonly details: string;
  /** IP address, or `command line`. */
  readonly from: string;
}

export type NewAuditEntry = Omit<AuditEntry, 'number' | 'time'>;

/** Entries that are read at once. */
export const AUDIT_PAGE = 50;

/** Records what operators do. It has no operation that changes or deletes an entry. */
export interface AuditLog {
  append(entry: NewAuditEntry): Promise<void>;
  /** Returns the newest entries, or those before the one with a number, newest first. */
  read(before?: number): Promise<AuditEntry[]>;
}
