import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, hashApiKey, type Keys, rotateKey } from '../../../functions/platform/keys.ts';
import { dayOf } from '../../../functions/shared/time.ts';

export interface KeysUnderTest {
  readonly keys: Keys;
  /** The same table through another connection. */
  readonly others: Keys;
  /** Returns the whole content of the table as text. */
  dump(): Promise<string>;
  /** Lets time pass. */
  wait(milliseconds: number): Promise<void>;
  close(): Promise<void>;
}

const KEY = { name: 'test' };

/** Tests that every key table must pass. */
export function describeKeys(name: string, open: () => Promise<KeysUnderTest>): void {
  describe(`${name} as a key table`, () => {
    let table: KeysUnderTest;
    beforeAll(async () => {
      table = await open();
    });
    afterAll(() => table.close());

    it('finds a key it created, with everything that was set', async () => {
      const expires = 1000 * Math.ceil(Date.now() / 1000 + 60);
      const limits = { perMinute: 5, perMonth: 100, concurrent: 2 };
      const { apiKey, record } = await table.keys.create({
        ...KEY,
        expires,
        limits,
        tools: ['imageproc', 'pdftools'],
      });

      const found = await table.keys.find(apiKey);

      expect(record).toMatchObject({
        name: 'test',
        expires,
        limits,
        disabled: false,
        tools: ['imageproc', 'pdftools'],
      });
      expect(record.id).toMatch(/^key_[0-9A-Z]{10}$/);
      expect(found).toEqual(record);
      expect(await table.others.get(record.id)).toEqual({ ...record, lastUsed: dayOf() });
    });

    it('finds an imported key of any form, which is imported only once', async () => {
      const hash = hashApiKey('sk_live_an-old.key');
      const record = await table.keys.add(hash, { ...KEY, limits: { perMonth: 3 } });

      expect(await table.others.find('sk_live_an-old.key')).toEqual(record);
      expect(await table.keys.find('sk_live_an-old.kez')).toBeUndefined();
      expect(await table.others.add(hash, KEY)).toBeUndefined();
      expect((await table.keys.get(record!.id))?.limits).toEqual({ perMonth: 3 });
    });

    it('finds a key that signs links by its ID only, and no other key in this way', async () => {
      const signing = await table.keys.create({ ...KEY, kind: 'signing', tools: ['imageproc'] });
      const other = await table.keys.create(KEY);

      const signer = await table.others.findSigner(signing.record.id);

      expect(signing.record.kind).toBe('signing');
      expect(signer).toEqual({ record: signing.record, secret: hashApiKey(signing.apiKey) });
      expect(await table.keys.find(signing.apiKey)).toBeUndefined();
      expect(await table.keys.findSigner(other.record.id)).toBeUndefined();
      expect(await table.keys.findSigner('key_0000000000')).toBeUndefined();
      const rotated = await rotateKey(table.keys, signing.record.id, 60_000);
      expect((await table.keys.findSigner(rotated!.record.id))?.record.account).toBe(signing.record.account);
      await table.keys.update(rotated!.record.id, { disabled: true });
      expect(await table.keys.findSigner(rotated!.record.id)).toBeUndefined();
    });

    it('gives two keys two accounts, unless a key is added to an account', async () => {
      const [one, other] = [await table.keys.create(KEY), await table.keys.create(KEY)];
      const further = await table.keys.create({ ...KEY, account: one.record.account });

      expect(one.record.account).not.toBe(other.record.account);
      expect((await table.keys.find(further.apiKey))?.account).toBe(one.record.account);
    });

    it.each([
      ['an empty key', ''],
      ['any text', 'let me in'],
      ['a long text', 'A'.repeat(100_000)],
      ['a well-formed key it never created', createApiKey()],
    ])('finds nothing for %s', async (_, apiKey) => {
      expect(await table.keys.find(apiKey)).toBeUndefined();
    });

    it('finds nothing for a key with one letter changed', async () => {
      const { apiKey } = await table.keys.create(KEY);
      const other = (apiKey[3] === '0' ? '1' : '0') as string;

      expect(await table.keys.find(apiKey.slice(0, 3) + other + apiKey.slice(4))).toBeUndefined();
      expect(await table.keys.find(apiKey.toLowerCase())).toBeUndefined();
      expect(await table.keys.find(`${apiKey} `)).toBeUndefined();
    });

    it('finds nothing for a revoked key, and keeps the others', async () => {
      const [revoked, kept] = [await table.keys.create(KEY), await table.keys.create(KEY)];

      expect(await table.others.revoke(revoked.record.id)).toBe(true);

      expect(await table.keys.find(revoked.apiKey)).toBeUndefined();
      expect(await table.keys.get(revoked.record.id)).toBeUndefined();
      expect(await table.keys.find(kept.apiKey)).toBeDefined();
    });

    it('finds a disabled key again only after it is enabled', async () => {
      const { apiKey, record } = await table.keys.create(KEY);

      expect(await table.others.update(record.id, { disabled: true })).toMatchObject({ disabled: true });
      expect(await table.keys.find(apiKey)).toBeUndefined();
      await table.others.update(record.id, { disabled: false });

      expect(await table.keys.find(apiKey)).toBeDefined();
    });

    it('finds the account of a key until it expires', async () => {
      const expired = await table.keys.create({ ...KEY, expires: Date.now() - 2000 });
      const valid = await table.keys.create({ ...KEY, expires: Date.now() + 60_000 });

      expect(await table.keys.find(expired.apiKey)).toBeUndefined();
      expect(await table.keys.find(valid.apiKey)).toBeDefined();
    });

    it('changes limits and removes an expiry', async () => {
      const { record } = await table.keys.create({
        ...KEY,
        account: (await table.keys.create(KEY)).record.account,
        expires: Date.now() + 60_000,
        limits: { perMinute: 1 },
      });

      await table.keys.update(record.id, { limits: { concurrent: 4 } });
      await table.keys.update(record.id, { expires: undefined });

      const { expires: _, ...rest } = record;
      expect(await table.keys.get(record.id)).toEqual({ ...rest, limits: { concurrent: 4 } });
    });

    it('changes and revokes nothing for an unknown id', async () => {
      expect(await table.keys.update('key_0000000000', { disabled: true })).toBeUndefined();
      expect(await table.keys.revoke('key_0000000000')).toBe(false);
      expect(await rotateKey(table.keys, 'key_0000000000', 1000)).toBeUndefined();
    });

    it('lists all keys, oldest first', async () => {
      const first = await table.keys.create(KEY);
      await table.wait(5);
      const second = await table.keys.create(KEY);

      const ids = (await table.others.list()).map(({ id }) => id);

      expect(ids.indexOf(first.record.id)).toBeGreaterThanOrEqual(0);
      expect(ids.indexOf(second.record.id)).toBe(ids.length - 1);
    });

    it('rotates a key, with both valid until the overlap ends', async () => {
      const old = await table.keys.create({ ...KEY, limits: { perMinute: 7 }, tools: ['pdftools'] });

      const created = await rotateKey(table.keys, old.record.id, 10_000);
      const during = [await table.keys.find(old.apiKey), await table.keys.find(created!.apiKey)];
      await table.wait(11_100);

      expect(during[0]?.account).toBe(old.record.account);
      expect(during[1]).toMatchObject({
        account: old.record.account,
        limits: { perMinute: 7 },
        tools: ['pdftools'],
      });
      expect(await table.keys.find(old.apiKey)).toBeUndefined();
      expect(await table.keys.find(created!.apiKey)).toBeDefined();
    });

    it('rotates only a valid key', async () => {
      const { record } = await table.keys.create(KEY);
      await table.keys.update(record.id, { disabled: true });
      const disabled = await rotateKey(table.keys, record.id, 1000);
      await table.keys.update(record.id, { disabled: false, expires: 1000 });
      const expired = await rotateKey(table.keys, record.id, 1000);

      expect([disabled, expired]).toEqual([undefined, undefined]);
    });

    it('never extends a key that expires sooner when it is rotated', async () => {
      const expires = 1000 * Math.ceil(Date.now() / 1000 + 60);
      const { account } = (await table.keys.create(KEY)).record;
      const { record } = await table.keys.create({ ...KEY, account, expires });

      await rotateKey(table.keys, record.id, 3_600_000);

      expect((await table.keys.get(record.id))?.expires).toBe(expires);
    });

    it('stores no readable key', async () => {
      const { apiKey } = await table.keys.create(KEY);

      const dump = await table.dump();

      expect(dump.length).toBeGreaterThan(50);
      expect(dump).not.toContain(apiKey);
      for (const group of apiKey.split('-')) expect(dump).not.toContain(group);
    });
  });
}
