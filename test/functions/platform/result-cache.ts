import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CachedResult, ResultCache } from '../../../functions/platform/result-cache.ts';

export interface CacheUnderTest {
  readonly cache: ResultCache;
  close(): Promise<void>;
}

export function cached(objectKey: string, created = 1): CachedResult {
  return { created, result: { ok: true, objectKeys: [objectKey], validators: 'v', warnings: ['Ü 図'] } };
}

/** Tests that every cache of results must pass. */
export function describeCache(name: string, open: () => Promise<CacheUnderTest>): void {
  describe(`${name} as a cache of results`, () => {
    let place: CacheUnderTest;
    beforeAll(async () => {
      place = await open();
    });
    afterAll(() => place.close());
    const [one, other] = ['a'.repeat(64), 'b'.repeat(64)];

    it('returns what was put last for an account and a request, and nothing for others', async () => {
      await place.cache.put('owner', one, cached('old'));
      await place.cache.put('owner', one, cached('new', 2));

      expect(await place.cache.get('owner', one)).toEqual(cached('new', 2));
      expect(await place.cache.get('owner', other)).toBeUndefined();
      expect(await place.cache.get('somebody', one)).toBeUndefined();
    });
  });
}
