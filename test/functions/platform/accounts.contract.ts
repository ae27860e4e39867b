import { randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type Keys, rotateKey } from '../../../functions/platform/keys.ts';
import type { Table } from '../../../functions/platform/table.ts';
import { type ErasableStores, eraseAccount } from '../../../functions/site/accounts/erase.ts';
import { createByOperator, restrict, settle } from '../../../functions/site/operator/operations.ts';
import { jobCall } from '../jobs/local-service.ts';

export interface AccountsUnderTest extends ErasableStores {
  /** The table of the stores. */
  readonly table: Table;
  close(): Promise<void>;
}

/** Tests that every store of accounts, of their failures, and of the audit log must pass. */
export function describeAccounts(name: string, open: () => Promise<AccountsUnderTest>): void {
  describe(`${name} as a store of accounts`, () => {
    let opened: AccountsUnderTest;
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(() => opened.close());

    it('knows an account from its first key on, and the email address that it gets later', async () => {
      const { accounts, keys } = opened;
      const { record } = await keys.create({ name: 'x' });
      const before = await accounts.get(record.account);
      await accounts.add(record.account, 'a@example.com');

      expect(before).toMatchObject({ id: record.account, disabled: false, signedOut: 0 });
      expect(before).not.toHaveProperty('email');
      expect(await accounts.get(record.account)).toEqual({ ...before, email: 'a@example.com' });
      await accounts.remove(record.account);
      expect(await accounts.get(record.account)).toBeUndefined();
    });

    it('lists the keys of one account, without revoked ones', async () => {
      const { keys } = opened;
      const { account, id } = (await keys.create({ name: 'one' })).record;
      const second = await keys.create({ name: 'two', account });
      await keys.create({ name: 'of another account' });

      expect((await keys.listOf(account)).map(({ name }) => name).sort()).toEqual(['one', 'two']);
      await keys.revoke(second.record.id);
      expect((await keys.listOf(account)).map((key) => key.id)).toEqual([id]);
      expect(await keys.listOf('nobody')).toEqual([]);
    });

    it('refuses every key of a disabled account, later ones too, until it is enabled', async () => {
      const { accounts, keys } = opened;
      const first = await keys.create({ name: 'first' });
      const { account } = first.record;
      const signing = await keys.create({ name: 'signing', account, kind: 'signing' });
      const off = await keys.create({ name: 'off', account });
      await keys.update(off.record.id, { disabled: true });

      await accounts.update(account, { disabled: true });
      const later = await keys.create({ name: 'later', account });
      const found = [await keys.find(first.apiKey), await keys.find(later.apiKey)];
      const signer = await keys.findSigner(signing.record.id);
      await accounts.update(account, { disabled: false });

      expect([...found, signer]).toEqual([undefined, undefined, undefined]);
      expect(later.record.accountDisabled).toBe(true);
      expect(await keys.find(first.apiKey)).toBeDefined();
      expect(await keys.find(later.apiKey)).toBeDefined();
      expect(await keys.findSigner(signing.record.id)).toBeDefined();
      expect(await keys.find(off.apiKey)).toBeUndefined();
    });

    it('refuses keys that are created while their account is being disabled', async () => {
      const { accounts, keys } = opened;
      const { account } = (await keys.create({ name: 'first' })).record;

      const created = await Promise.all([
        ...Array.from({ length: 10 }, (_, index) => keys.create({ name: `key ${index}`, account })),
        accounts.update(account, { disabled: true }),
      ]);

      for (const each of created) if (each) expect(await keys.find(each.apiKey)).toBeUndefined();
    });

    it('restricts an account as its first key, and its later keys after that one is revoked', async () => {
      const { accounts, keys } = opened;
      const expires = 1000 * Math.ceil(Date.now() / 1000 + 3600);
      const rights = { tools: ['imageproc'], limits: { perMonth: 7 }, expires };
      const { record } = await keys.create({ name: 'first', ...rights });
      const { account } = record;
      const second = await keys.create({ name: 'second', account });
      await keys.revoke(record.id);
      await keys.revoke(second.record.id);
      const { apiKey } = await keys.create({ name: 'third', account, limits: { perMonth: 9, perMinute: 1 } });

      expect(record).toMatchObject(rights);
      expect(second.record).toMatchObject(rights);
      expect(await keys.find(apiKey)).toMatchObject({ ...rights, limits: { perMonth: 7, perMinute: 1 } });
      expect((await accounts.get(account))?.restrictions).toEqual(rights);
    });

    it('restricts every key of an account at once, and lifts restrictions', async () => {
      const { accounts, keys } = opened;
      const first = await keys.create({ name: 'first', limits: { perMinute: 1 } });
      const { account } = first.record;
      const signing = await keys.create({ name: 'signing', account, kind: 'signing' });
      const narrow = await keys.create({
        name: 'narrow',
        account,
        tools: ['doc2any'],
        limits: { perMonth: 1 },
      });

      await restrict(opened, account, { limits: { perMinute: 2 }, tools: ['pdftools'] });
      const restricted = [await keys.find(first.apiKey), (await keys.findSigner(signing.record.id))?.record];
      const none = await keys.find(narrow.apiKey);
      await accounts.update(account, { restrictions: { limits: {}, expires: Date.now() - 1 } });
      const ended = [await keys.find(first.apiKey), await keys.findSigner(signing.record.id)];
      await restrict(opened, account, { limits: {} });

      for (const key of restricted)
        expect(key).toMatchObject({ limits: { perMinute: 2 }, tools: ['pdftools'] });
      expect(none).toMatchObject({ tools: [], limits: { perMinute: 2 } });
      expect(ended).toEqual([undefined, undefined]);
      const lifted = await keys.find(first.apiKey);
      expect(lifted).toMatchObject({ limits: {} });
      expect(Object.keys(lifted!)).not.toEqual(expect.arrayContaining(['tools']));
      expect(await keys.find(narrow.apiKey)).toMatchObject({ tools: ['doc2any'], limits: {} });
    });

    it('restricts an account to the keys that an operator has left, unless a key gives it more', async () => {
      const { accounts, keys } = opened;
      const create = (key: Parameters<Keys['create']>[0]) => createByOperator(opened, key, keys.create);
      const { account, id } = (await keys.create({ name: 'of the member' })).record;
      const { record } = (await rotateKey(keys, id, 3_600_000))!;
      const soon = 1000 * Math.ceil(Date.now() / 1000 + 3600);
      const left = await create({ name: 'left', account, tools: ['imageproc'], expires: soon });
      const before = (await accounts.get(account))?.restrictions;
      await keys.update(record.id, { disabled: true });
      await settle(opened, account);
      await keys.revoke(left.record.id);
      const own = await keys.create({ name: 'own', account });
      const more = await create({ name: 'more', account, tools: ['doc2any'], expires: soon + 1000 });

      expect(before).toEqual({ limits: {} });
      expect((await keys.get(id))?.expires).toBeLessThanOrEqual(soon);
      expect(own.record).toMatchObject({ tools: ['imageproc'], expires: soon });
      expect(more.record).toMatchObject({ tools: ['doc2any'], expires: soon + 1000 });
      expect((await accounts.get(account))?.restrictions).toMatchObject({
        tools: expect.arrayContaining(['imageproc', 'doc2any']),
        expires: soon + 1000,
      });
    });

    it('finds accounts by their email address, ID and keys, newest first and in pages', async () => {
      const { accounts, keys } = opened;
      const mark = randomUUID();
      const ids: string[] = [];
      for (const number of [1, 2, 3]) {
        const { record } = await keys.create({ name: `Schlüssel Ä-${number}-${mark}` });
        ids.unshift(record.account);
        while (Date.now() <= record.created) await setImmediate();
      }
      await accounts.add(ids[0]!, `someone-${mark}@example.com`);
      const [key] = await keys.listOf(ids[1]!);
      const search = async (text: string, offset = 0, limit = 10) => {
        const { accounts: found, total } = await accounts.search(text, offset, limit);
        return [total, ...found.map(({ id }) => id)];
      };

      expect(await search(mark)).toEqual([3, ...ids]);
      expect(await search(mark, 1, 1)).toEqual([3, ids[1]]);
      expect(await search(mark, 3, 10)).toEqual([3]);
      expect(await search(`SOMEONE-${mark.toUpperCase()}`)).toEqual([1, ids[0]]);
      expect(await search(`SCHLÜSSEL ä-2-${mark}`)).toEqual([1, ids[1]]);
      expect(await search(ids[2]!)).toEqual([1, ids[2]]);
      expect(await search(key!.id)).toEqual([1, ids[1]]);
      expect((await search("%_'"))[0]).toBe(0);
      expect(Number((await search('', 0, 1))[0])).toBeGreaterThanOrEqual(3);
    });

    it('keeps the last 20 failures of an account, newest first', async () => {
      const { failures } = opened;
      const account = randomUUID();
      const now = Date.now();
      const failure = { account, code: 'TIMED_OUT', requestId: 'r' } as const;
      for (let number = 0; number < 45; number += 1)
        await failures.record({
          ...failure,
          time: now + number,
          ...(number % 2 === 0 && { tool: 'pdftools' }),
        });
      await failures.record({ ...failure, account: randomUUID(), time: now + 100 });

      const own = await failures.recent(account);
      const all = await failures.recent();

      expect(own.map(({ time }) => time - now)).toEqual(Array.from({ length: 20 }, (_, index) => 44 - index));
      expect(own[0]).toEqual({ ...failure, time: now + 44, tool: 'pdftools' });
      expect(own[1]).toEqual({ ...failure, time: now + 43 });
      expect(all[0]!.time).toBe(now + 100);
      expect(all.length).toBeLessThanOrEqual(50);
    });

    it('shows failures that an earlier version kept in one item, among later ones', async () => {
      const { failures, table } = opened;
      const account = randomUUID();
      const now = Date.now();
      const facts = JSON.stringify({ code: 'TIMED_OUT', requestId: 'earlier', tool: 'pdftools' });
      await table.update(`failures#${account}`, {
        set: { [`${now - 2000} x`]: facts, [`${now - 40 * 86_400_000} y`]: facts, expires: now + 60_000 },
      });
      await failures.record({ account, time: now - 1000, code: 'INTERNAL', requestId: 'later' });

      expect(await failures.recent(account)).toEqual([
        { account, time: now - 1000, code: 'INTERNAL', requestId: 'later' },
        { account, time: now - 2000, code: 'TIMED_OUT', requestId: 'earlier', tool: 'pdftools' },
      ]);
    });

    it('finds the newest failures of all accounts without reading the whole table', async () => {
      const { failures, table } = opened;
      const list = vi.spyOn(table, 'list');
      const time = Date.now() + 1000;
      for (let index = 0; index < 60; index += 1)
        await failures.record({
          account: `account ${index % 30}`,
          time: time + index,
          code: 'INTERNAL',
          requestId: `${index}`,
        });

      const all = await failures.recent();

      expect(list).not.toHaveBeenCalled();
      expect(all.map(({ requestId }) => requestId)).toEqual(
        Array.from({ length: 50 }, (_, index) => `${59 - index}`),
      );
      list.mockRestore();
    });

    it('loses none of the newest failures with concurrent writes', async () => {
      const { failures } = opened;
      const failure = { account: randomUUID(), code: 'TIMED_OUT', time: Date.now() } as const;
      const ids = Array.from({ length: 100 }, (_, index) => `${index}`);
      await Promise.all(ids.map((requestId) => failures.record({ ...failure, requestId })));

      expect(await failures.recent(failure.account)).toHaveLength(20);
    });

    it('erases an account with everything about it, and nothing of others', async () => {
      const { accounts, keys, usage, failures, audit, records, idempotency, jobs, webhookSecrets, table } =
        opened;
      const email = 'ann@erased.example';
      const people = [
        { account: randomUUID(), email },
        { account: randomUUID(), email: `jo${email}` },
      ];
      for (const person of people) {
        const { account } = person;
        await keys.create({ name: 'key', account, kind: 'signing' });
        await accounts.add(account, person.email);
        const used = { account, tool: 'pdftools', code: 'TIMED_OUT', cached: false, coldStarts: 0 } as const;
        for (const ago of [0, 300])
          await usage.record(
            { ...used, sourceBytes: 1, resultBytes: 1, pages: 1, milliseconds: 1 },
            Date.now() - ago * 86_400_000,
          );
        for (let number = 0; number < 25; number += 1)
          await failures.record({ account, time: Date.now(), code: 'TIMED_OUT', requestId: `${number}` });
        await idempotency!.begin({ account, key: 'k', request: 'r', until: 0 }, async () => true);
        await jobs!.add(jobCall('a', {}, account));
        await webhookSecrets!.get(account);
        await records.add(`session#${account}`, JSON.stringify({ account, began: 1 }));
        await opened.prefixes?.set(account, 's3://files/', 'read');
        await records.add(`email#${account}`, account);
        await records.add(`link#${account}`, JSON.stringify({ email: person.email, mayCreate: true }));
        await records.set(`openid-of#${account}`, '["issuer","subject"]');
        const entry = { action: 'disable', subject: person.email, details: `for <${person.email}>, too` };
        await audit.append({ ...entry, actor: person.email, from: '192.0.2.1' });
      }
      const [{ account }, other] = [people[0]!, people[1]!];
      const removed: string[] = [];

      // Without a key, no call can add a file afterwards.
      const removeFiles = async (id: string) => {
        removed.push(`files of ${id}, ${(await keys.listOf(id)).length} keys`);
      };
      const removeUser = async (name: string) => void removed.push(`user ${name}`);
      const { erased, kept } = await eraseAccount(account, { ...opened, removeFiles, removeUser });

      expect(erased).toEqual({
        usage: 2,
        failures: 25,
        answers: 1,
        jobs: 1,
        buckets: 1,
        audit: 1,
        keys: 1,
        records: 4,
      });
      expect(removed).toEqual([`files of ${account}, 0 keys`, `user ${email}`]);
      const left = (await Array.fromAsync(table.list(''))).map((item) => JSON.stringify(item));
      // The marker that keeps the restrictions of a deleted account, without the address.
      expect(left.filter((item) => item.includes(account))).toEqual([expect.stringMatching(/site#deleted#/)]);
      expect(left.filter((item) => item.includes(email) && !item.includes(other.email))).toEqual([]);
      expect(left.filter((item) => item.includes(other.account)).length).toBeGreaterThan(25);
      const [theirs, own] = await audit.read();
      expect(theirs).toMatchObject({ actor: other.email, subject: other.email, from: '192.0.2.1' });
      const pseudonym = own!.actor;
      expect(pseudonym).toMatch(/^erased-[0-9a-f]{12}$/);
      expect(own).toMatchObject({
        subject: pseudonym,
        details: `for <${pseudonym}>, too`,
        from: pseudonym,
        action: 'disable',
      });
      expect(kept.join(' ')).toMatch(/audit log.*backups/s);
    });

    it('appends to the audit log, and reads it in pages', async () => {
      const { audit } = opened;
      const entry = { actor: 'a', action: 'b', subject: 'c', details: '', from: '' };
      for (let number = 1; number <= 53; number += 1) await audit.append({ ...entry, details: `${number}` });

      const [newest, older] = [await audit.read(), await audit.read(4)];

      expect(newest).toHaveLength(50);
      expect(newest[0]).toEqual({
        ...entry,
        number: expect.any(Number),
        time: expect.any(Number),
        details: '53',
      });
      expect(older.map(({ number }) => number)).toEqual([3, 2, 1]);
      expect(await audit.read(1)).toEqual([]);
    });
  });
}
