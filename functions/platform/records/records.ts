/** Texts by name, for the site: its accounts, their sessions and one-time links. */
export interface Records {
  /** Stores a text, unless there is one that has not expired. Returns whether it did. `expires` is in epoch milliseconds. */
  add(name: string, text: string, expires?: number): Promise<boolean>;
  /** Stores a text that does not expire, in place of any other. */
  set(name: string, text: string): Promise<void>;
  /** Returns a text that has not expired. */
  get(name: string): Promise<string | undefined>;
  /** Deletes a text and returns it. Of several callers, only one gets it. */
  take(name: string): Promise<string | undefined>;
}
