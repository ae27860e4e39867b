/** Owner of API keys, and maybe of an e-mail that signs in to the site. */
export interface Account {
  readonly id: string;
  /** The person who can sign in. Absent for an account that has only keys. */
  readonly email?: string;
  /** Epoch milliseconds. */
  readonly created: number;
  /** Operators see and change all accounts. */
  readonly role?: 'operator';
  /** While it is set, none of its keys, sessions, links and forms works. */
  readonly disabled: boolean;
  /** Sessions that began earlier have ended. Epoch milliseconds. */
  readonly signedOut: number;
}

/** Properties that can be changed later. */
export type AccountChanges = Partial<Pick<Account, 'role' | 'disabled' | 'signedOut'>>;

/** A part of a list of accounts. */
export interface AccountPage {
  readonly accounts: readonly Account[];
  /** Number of all accounts that were found. */
  readonly total: number;
}

/** All accounts. One is added with its first key, or when somebody signs up. */
export interface AccountTable {
  /** Adds an account that can sign in, or the e-mail to one that has only keys. */
  add(id: string, email: string): Promise<void>;
  get(id: string): Promise<Account | undefined>;
  /** Changes an account. When it returns, every key of a disabled account is refused. */
  update(id: string, changes: AccountChanges): Promise<void>;
  /** Deletes an account, but not its keys. */
  remove(id: string): Promise<void>;
  /** Finds the accounts whose e-mail, ID, or name or ID of a key contains a text, newest first. */
  search(text: string, offset: number, limit: number): Promise<AccountPage>;
}
