import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../../../functions/shared/keys/api-key.ts';
import type { Keys } from '../../../../functions/shared/keys/keys.ts';

export interface KeysUnderTest {
  readonly keys: Keys;
  /** Everything the table holds, as text. */
  dump(): Promise<string>;
  close(): Promise<void>;
}

/** Tells what every key table does. */
export function describeKeys(name: string, open: () => Promise<KeysUnderTest>): void {
  describe(`${name} as a key table`, () => {
    let table: KeysUnderTest;
    beforeAll(async () => {
      table = await open();
    });
    afterAll(() => table.close());

    it('finds the owner of a key it made, each time the same', async () => {
      const apiKey = await table.keys.create();

      const first = await table.keys.find(apiKey);
      const second = await table.keys.find(apiKey);

      expect(first?.tenant).toMatch(/^[\w-]{8,}$/);
      expect(second).toEqual(first);
    });

    it('gives two keys two owners', async () => {
      const [one, other] = [await table.keys.create(), await table.keys.create()];

      const owners = [await table.keys.find(one), await table.keys.find(other)];

      expect(owners[0]?.tenant).not.toBe(owners[1]?.tenant);
    });

    it.each([
      ['an empty key', ''],
      ['a text of any kind', 'let me in'],
      ['a long text', 'A'.repeat(100_000)],
      ['a well-formed key it never made', createApiKey()],
    ])('finds nobody for %s', async (_, apiKey) => {
      expect(await table.keys.find(apiKey)).toBeUndefined();
    });

    it('finds nobody for a key with one letter changed', async () => {
      const apiKey = await table.keys.create();
      const other = (apiKey[3] === '0' ? '1' : '0') as string;

      expect(await table.keys.find(apiKey.slice(0, 3) + other + apiKey.slice(4))).toBeUndefined();
      expect(await table.keys.find(apiKey.toLowerCase())).toBeUndefined();
      expect(await table.keys.find(`${apiKey} `)).toBeUndefined();
    });

    it('finds nobody for a revoked key, and leaves the others', async () => {
      const [revoked, kept] = [await table.keys.create(), await table.keys.create()];

      await table.keys.revoke(revoked);

      expect(await table.keys.find(revoked)).toBeUndefined();
      expect(await table.keys.find(kept)).toBeDefined();
    });

    it('ignores the end of an unknown key', async () => {
      await expect(table.keys.revoke(createApiKey())).resolves.toBeUndefined();
    });

    it('finds nobody for an expired key, and the owner before', async () => {
      const expired = await table.keys.create({ expires: Date.now() - 1000 });
      const valid = await table.keys.create({ expires: Date.now() + 60_000 });

      expect(await table.keys.find(expired)).toBeUndefined();
      expect(await table.keys.find(valid)).toBeDefined();
    });

    it('holds no key that could be read', async () => {
      const apiKey = await table.keys.create();

      const dump = await table.dump();

      expect(dump.length).toBeGreaterThan(50);
      expect(dump).not.toContain(apiKey);
      for (const group of apiKey.split('-')) expect(dump).not.toContain(group);
    });
  });
}
