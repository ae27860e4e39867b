/** The owner of an API key. */
export interface Account {
  /** Opaque, stable and safe to log: tells owners apart, says nothing of the key. */
  readonly tenant: string;
}

/** The key table: holds hashes only. */
export interface Keys {
  /** Answers the owner of a valid key; missing, wrong, expired and revoked keys alike answer `undefined`. */
  find(apiKey: string): Promise<Account | undefined>;
  /** Adds a new key and answers it: the only time it can be read. */
  create(options?: { expires?: number }): Promise<string>;
  /** Ends a key; unknown keys are ignored. */
  revoke(apiKey: string): Promise<void>;
}
