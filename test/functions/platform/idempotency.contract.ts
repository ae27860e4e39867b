import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Idempotency } from '../../../functions/platform/idempotency.ts';
import type { InvocationResult } from '../../../functions/platform/invoke.ts';

export interface IdempotencyUnderTest {
  readonly idempotency: Idempotency;
  close(): Promise<void>;
}

const RESULT: InvocationResult = { ok: true, objectKeys: ['a/b.png'], pageCount: 3 };

/** Tests that every store of the results of repeated requests must pass. */
export function describeIdempotency(name: string, open: () => Promise<IdempotencyUnderTest>): void {
  describe(`${name} as a store of results of repeated requests`, () => {
    let opened: IdempotencyUnderTest;
    let account: string;
    beforeAll(async () => {
      opened = await open();
    });
    beforeEach(() => {
      account = randomUUID();
    });
    afterAll(() => opened.close());

    const begin = (request = 'r', { key = 'k', of = account, lasts = 60_000, isUsable = true } = {}) =>
      opened.idempotency.begin(
        { account: of, key, request, until: Date.now() + lasts },
        async () => isUsable,
      );
    const run = async (result?: InvocationResult, lasts = 60_000) => {
      const begun = await begin('r', { lasts });
      if (!('end' in begun)) throw new Error('It has been kept.');
      await begun.end(result);
    };

    it('keeps a result', async () => {
      await run(RESULT);

      expect(await begin()).toEqual({ kept: RESULT });
    });

    it('frees the key of a request that ended without a result', async () => {
      await run();

      expect(await begin('another request')).toHaveProperty('end');
    });

    it('refuses the key of a running request, and of another request', async () => {
      await begin();

      await expect(begin()).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS', status: 409 });
      await expect(begin('other')).rejects.toMatchObject({ code: 'IDEMPOTENCY_KEY_REUSED', status: 422 });
    });

    it('lets one of many parallel requests run', async () => {
      const all = await Promise.allSettled(Array.from({ length: 20 }, () => begin()));

      expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    it('separates accounts, even if one names another in its key', async () => {
      await run(RESULT);

      for (const other of [
        { of: 'another' },
        { of: `${account}","k`, key: '' },
        { of: '', key: `${account} k` },
      ]) {
        expect(await begin('r', other)).toHaveProperty('end');
      }
    });

    it('runs a request again whose process was killed, or whose files were deleted', async () => {
      const first = await begin('r', { lasts: -1 });
      const again = await begin('r', { lasts: -1 });
      if (!('end' in first && 'end' in again)) throw new Error('It has been kept.');
      await again.end(RESULT);
      // The first one was only slow.
      await first.end();

      expect(await begin()).toEqual({ kept: RESULT });
      expect(await begin('r', { isUsable: false })).toHaveProperty('end');
      await expect(begin()).rejects.toMatchObject({ code: 'REQUEST_IN_PROGRESS' });
    });
  });
}
