import type { Records } from '../records.ts';
import { type Item, openTable, type TableLocation } from './table.ts';

/**
 * Keeps records in the table of the keys. Its time-to-live attribute is in seconds, and expired items are deleted
 * within days.
 */
export function createDynamoRecords(location: TableLocation): Records {
  const table = openTable(location);
  const idOf = (name: string) => `site#${name}`;
  const textOf = (item: Item | undefined) => {
    const end = Number(item?.ends?.N ?? Number.POSITIVE_INFINITY);
    return end > Date.now() ? item?.content?.S : undefined;
  };
  return {
    async add(name, text, expires) {
      const ends = expires !== undefined && {
        ends: { N: String(expires) },
        expires: { N: String(Math.ceil(expires / 1000)) },
      };
      return table.put(
        { id: { S: idOf(name) }, content: { S: text }, ...ends },
        {
          when: 'attribute_not_exists(id) OR ends <= :now',
          values: { ':now': { N: String(Date.now()) } },
        },
      );
    },
    async set(name, text) {
      await table.put({ id: { S: idOf(name) }, content: { S: text } });
    },
    async get(name) {
      return textOf(await table.get(idOf(name)));
    },
    async take(name) {
      return textOf(await table.remove(idOf(name)));
    },
  };
}
