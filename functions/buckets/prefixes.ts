import type { Table } from '../platform/table.ts';
import type { Access, NamedPrefix } from './places.ts';

/** The prefixes that operators have named for accounts. */
export type Prefixes = ReturnType<typeof createPrefixes>;

/** Keeps the prefixes of an account in an item of its own, by their URLs. On AWS the router can only read it. */
export function createPrefixes(table: Table) {
  const idOf = (account: string) => `buckets#${account}`;
  const prefixesIn = (item: object = {}): NamedPrefix[] =>
    Object.entries(item)
      .filter(([url]) => url.startsWith('s3://'))
      .map(([url, access]) => ({ url, access: access as Access }));
  return {
    of: async (account: string) => prefixesIn(await table.get(idOf(account))),
    /** Changes what an account may do below a prefix. `undefined` removes it. */
    set: async (account: string, url: string, access: Access | undefined): Promise<void> =>
      void (await table.update(idOf(account), { set: { [url]: access } })),
    /** Removes all prefixes of an account, and returns their number. */
    erase: async (account: string) => prefixesIn(await table.remove(idOf(account))).length,
  };
}
