import { DAY } from '../../shared/dates.ts';
import type { ErrorCode } from '../../shared/errors.ts';

/** A failed call. Contains nothing about the document. */
export interface Failure {
  readonly account: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly code: ErrorCode;
  /** Identifies the log lines of the call. */
  readonly requestId: string;
  /** Name of the tool. Absent if the call named none. */
  readonly tool?: string;
}

/** Maximum number of failures to keep per account. */
export const KEPT_FAILURES = 20;
/** Maximum number of failures of all accounts to show to an operator. */
export const SHOWN_FAILURES = 50;
/** How long failures are kept, in milliseconds. */
export const FAILURE_LIFETIME = 31 * DAY;

/** The most recent failures of each account. */
export interface Failures {
  record(failure: Failure): Promise<void>;
  /** Returns the latest failures of one account, or of all accounts, newest first. */
  recent(account?: string): Promise<Failure[]>;
}
