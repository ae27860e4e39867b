import type { Windows } from './windows.ts';

/** An admitted call, as `release` needs it. */
interface Ticket {
  readonly account: string;
  readonly windows: Windows;
  /** Set if the call counts towards `concurrent` until it is released. */
  readonly lease?: string;
}

/**
 * Kind of a refund: `month` for a call that converted nothing, `all` for a call that failed through no fault of the
 * caller.
 */
export type Refund = 'none' | 'month' | 'all';

/** Number of calls of an account in each window, including this one. */
export interface Used {
  readonly short: number;
  readonly month: number;
}

export type Admission =
  | { readonly admitted: true; readonly used: Used; readonly ticket: Ticket }
  | { readonly admitted: false; readonly used: Used; readonly exceeded: Exceeded };

/** Maximum numbers of calls of an account. An absent one means no limit. */
export interface CallLimits {
  readonly perShortWindow?: number | undefined;
  readonly perMonth?: number | undefined;
  /** Maximum concurrent calls. */
  readonly concurrent?: number | undefined;
}

/** The limit that a call exceeded. */
export type Exceeded = keyof CallLimits;

export interface AdmissionRequest {
  readonly account: string;
  readonly limits: CallLimits;
  /** Epoch milliseconds after which the call no longer counts as in progress, even if it was never released. */
  readonly expires: number;
  readonly now?: number;
  /** Length of the short window in milliseconds, always the same for an account. Defaults to a minute. */
  readonly shortWindow?: number;
}

/** Counts calls. Exact under concurrency, even between processes. */
export interface Limiter {
  /** Counts a call in every window and as in progress. Counts it nowhere if it exceeds a limit. */
  admit(call: AdmissionRequest): Promise<Admission>;
  /** Ends an admitted call. */
  release(ticket: Ticket, refund: Refund): Promise<void>;
  /** Returns the usage of an account, without counting a call. */
  used(account: string, now?: number): Promise<Used>;
}
