import type { KeyLimits } from '../keys/keys.ts';
import type { Windows } from './windows.ts';

/** An admitted call: what `release` needs to know. */
export interface Ticket {
  readonly account: string;
  readonly windows: Windows;
  /** Set if the call counts towards `concurrent` until it is released. */
  readonly lease?: string;
}

/** Kind of a refund: `month` for a call that converted nothing, `all` for one that failed through no fault of the caller. */
export type Refund = 'none' | 'month' | 'all';

/** How much of each window an account has used, this call included. */
export interface Used {
  readonly minute: number;
  readonly month: number;
}

export type Admission =
  | { readonly admitted: true; readonly used: Used; readonly ticket: Ticket }
  | { readonly admitted: false; readonly used: Used; readonly exceeded: Exceeded };

/** The limit that a call exceeded. */
export type Exceeded = keyof KeyLimits;

export interface Call {
  readonly account: string;
  readonly limits: KeyLimits;
  /** Epoch milliseconds after which the call no longer counts as in progress, even if nobody released it. */
  readonly expires: number;
  readonly now?: number;
  /** Length of the shorter window in milliseconds, instead of a minute. Always the same for an account. */
  readonly window?: number;
}

/** Counts calls. Exact under concurrency, also between processes. */
export interface Limiter {
  /** Counts a call in every window and as in progress, or in none of them if it exceeds a limit. */
  admit(call: Call): Promise<Admission>;
  /** Ends an admitted call. */
  release(ticket: Ticket, refund: Refund): Promise<void>;
  /** Returns what an account has used, without counting a call. */
  used(account: string, now?: number): Promise<Used>;
}
