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
export const AUDIT_PAGE = 50;

/** Records what operators do. No method changes or deletes an entry. */
export interface AuditLog {
  append(entry: NewAuditEntry): Promise<void>;
  /** Returns the newest entries, or the newest before the given number, newest first. */
  read(before?: number): Promise<AuditEntry[]>;
}
