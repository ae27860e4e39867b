import type { Table } from './table.ts';

/** Key-value store of the site: sessions and one-time links. */
export interface Records {
  /** Stores a text unless an unexpired one exists. Returns whether it did. `expires` is in epoch milliseconds. */
  add(name: string, text: string, expires?: number): Promise<boolean>;
  /** Stores a text that does not expire, replacing any other. */
  set(name: string, text: string): Promise<void>;
  /** Returns a text unless it has expired. */
  get(name: string): Promise<string | undefined>;
  /** Deletes a text and returns it. Of several concurrent callers, only one gets it. */
  take(name: string): Promise<string | undefined>;
}

export function createRecords(table: Table): Records {
  const idOf = (name: string) => `site#${name}`;
  return {
    add: (name, content, expires) => table.put({ id: idOf(name), content, expires }, { id: 'absent' }),
    set: async (name, content) => void (await table.put({ id: idOf(name), content })),
    get: async (name) => (await table.get(idOf(name)))?.content as string | undefined,
    take: async (name) => (await table.remove(idOf(name)))?.content as string | undefined,
  };
}
