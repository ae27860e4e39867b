/** The value of an attribute. */
type Value = string | number | boolean;

/**
 * An item of a table. Items are flat, so that every attribute can be changed without reading the others. After
 * `expires`, in epoch milliseconds, an item counts as absent and is deleted.
 */
export type Item = { readonly id: string; readonly expires?: number | undefined } & Attributes;
export type Attributes = Readonly<Record<string, Value | undefined>>;

/** Holds if every attribute passes its test. An absent attribute passes only `absent`. */
export type Condition = Readonly<
  Record<
    string,
    'absent' | 'present' | { readonly is: Value } | { readonly below: number } | { readonly above: number }
  >
>;

/** A change of an item, which is created if necessary. */
export interface Change {
  /** New values. `undefined` removes an attribute. */
  readonly set?: Attributes;
  /** Values of attributes that are absent so far. */
  readonly defaults?: Attributes;
  /** Numbers to add. An absent attribute counts as 0. */
  readonly add?: Readonly<Record<string, number>>;
  /** The condition without which nothing is changed. */
  readonly when?: Condition;
  /** Set if the change must not be applied twice. It then fails if it is unknown whether it was applied. */
  readonly once?: boolean;
}

/** A key-value store in which all stores of a deployment keep their items. Each method is atomic for one item. */
export interface Table {
  /** Returns an item as all earlier writes have left it. */
  get(id: string): Promise<Item | undefined>;
  /** Returns the items that have the given IDs, in no particular order. Missing ones are left out. */
  getAll(ids: readonly string[]): Promise<Item[]>;
  /** Yields the items whose ID has a prefix. On AWS this reads the whole table, so it is only for rare calls. */
  list(prefix: string): AsyncIterable<Item>;
  /** Writes a whole item if a condition holds, and returns whether it did. */
  put(item: Item, when?: Condition): Promise<boolean>;
  /** Changes an item and returns it, or `undefined` if its condition does not hold. */
  update(id: string, change: Change): Promise<Item | undefined>;
  /** Replaces an item, even an entry of the audit log, which no other method changes. */
  replace(item: Item): Promise<void>;
  /** Deletes an item and returns it. Of several concurrent callers, only one gets it. */
  remove(id: string): Promise<Item | undefined>;
}
