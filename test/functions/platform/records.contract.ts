import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Records } from '../../../functions/platform/stores.ts';

export interface RecordsUnderTest {
  readonly records: Records;
  close(): Promise<void>;
}

/** Tests that every store of records must pass. */
export function describeRecords(name: string, open: () => Promise<RecordsUnderTest>): void {
  describe(`${name} as a store of records`, () => {
    let opened: RecordsUnderTest;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    it('adds a text once, until it is taken', async () => {
      const { records } = opened;
      const id = randomUUID();

      expect(await records.add(id, 'a')).toBe(true);
      expect(await records.add(id, 'b', Date.now() + 60_000)).toBe(false);
      expect(await records.get(id)).toBe('a');
      expect(await records.take(id)).toBe('a');
      expect([await records.get(id), await records.take(id)]).toEqual([undefined, undefined]);
      expect(await records.add(id, 'b')).toBe(true);
    });

    it('gives a text to one of many callers', async () => {
      const id = randomUUID();
      await opened.records.add(id, 'a');

      const taken = await Promise.all(Array.from({ length: 20 }, () => opened.records.take(id)));

      expect(taken.filter((text) => text === 'a')).toHaveLength(1);
    });

    it('neither returns nor keeps a text that has expired', async () => {
      const { records } = opened;
      const [id, other] = [randomUUID(), randomUUID()];
      for (const each of [id, other]) await records.add(each, 'a', Date.now() - 1);

      expect([await records.get(id), await records.take(id)]).toEqual([undefined, undefined]);
      expect(await records.add(other, 'b', Date.now() + 60_000)).toBe(true);
      expect(await records.get(other)).toBe('b');
    });

    it('replaces a text', async () => {
      const { records } = opened;
      const id = randomUUID();
      await records.add(id, 'a', Date.now() + 1000);

      await records.set(id, 'b');

      expect(await records.take(id)).toBe('b');
    });
  });
}
