import { DAY } from '../../shared/dates.ts';
import type { ErrorCode } from '../../shared/errors.ts';

/** A call that failed. Contains nothing about the document. */
export interface Failure {
  readonly account: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly code: ErrorCode;
  /** Finds the log lines of the call. */
  readonly requestId: string;
  /** Absent if the call named none. */
  readonly tool?: string;
}

/** Failures of an account that are kept. */
export const KEPT_FAILURES = 20;
/** Failures of all accounts that are shown to the operator. */
export const SHOWN_FAILURES = 50;
/** Milliseconds that failures are kept. */
export const FAILURE_LIFETIME = 31 * DAY;

/** The most recent failures of each account. */
export interface Failures {
  record(failure: Failure): Promise<void>;
  /** Returns the last failures of one account, or of all of them together, newest first. */
  recent(account?: string): Promise<Failure[]>;
}
