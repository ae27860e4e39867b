import type { Restrictions } from './keys/restrictions.ts';

/** Owns API keys and, optionally, an email address for signing in. */
export interface Account {
  readonly id: string;
  /** The person who can sign in. Absent for an account that has only keys. */
  readonly email?: string;
  /** Epoch milliseconds. */
  readonly created: number;
  /** Operators see and change all accounts. */
  readonly role?: 'operator';
  /** While this is set, none of its keys, sessions, links and forms work. */
  readonly disabled: boolean;
  /** Apply to all of its keys. */
  readonly restrictions: Restrictions;
  /** Sessions that began before this time have ended. Epoch milliseconds. */
  readonly signedOut: number;
}

/** Properties that can be changed later. */
type AccountChanges = Partial<Pick<Account, 'role' | 'disabled' | 'signedOut' | 'restrictions'>>;

/** One page of search results. */
interface AccountPage {
  readonly accounts: readonly Account[];
  /** Number of matches on all pages. */
  readonly total: number;
}

/** All accounts. An account is created with its first key or by signing up. */
export interface AccountTable {
  /** Adds an account that can sign in, or adds the email address to one that has only keys. */
  add(id: string, email: string): Promise<void>;
  get(id: string): Promise<Account | undefined>;
  /**
   * Changes an account. By the time this returns, every key of a disabled account is refused, and
   * every key has the new restrictions.
   */
  update(id: string, changes: AccountChanges): Promise<void>;
  /** Deletes an account, but not its keys. */
  remove(id: string): Promise<void>;
  /** Finds accounts by a part of their email address or ID, or of the name or ID of a key, newest first. */
  search(text: string, offset: number, limit: number): Promise<AccountPage>;
}
