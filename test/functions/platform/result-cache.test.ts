import { expect, it } from 'vitest';
import { createMemoryCache } from '../../../functions/platform/result-cache.ts';
import { cached, describeCache } from './result-cache.ts';

describeCache('Memory', async () => ({ cache: createMemoryCache(), close: async () => {} }));

const SIZE = JSON.stringify(cached('0')).length;

it('evicts only the least recently used entries of the account itself', async () => {
  const cache = createMemoryCache(10 * SIZE, 3 * SIZE);
  await cache.put('quiet', '0', cached('0'));
  for (const name of ['0', '1', '2']) await cache.put('busy', name, cached(name));
  await cache.get('busy', '0');
  await cache.put('busy', '3', cached('3'));

  const kept = await Promise.all(['0', '1', '2', '3'].map((name) => cache.get('busy', name)));

  expect(kept.map((found) => found?.result.objectKeys[0])).toEqual(['0', undefined, '2', '3']);
  expect(await cache.get('quiet', '0')).toBeDefined();
});

it('keeps at most so much of all accounts, the newest of them, and nothing that is larger', async () => {
  const cache = createMemoryCache(5 * SIZE, 3 * SIZE);
  for (let account = 0; account < 10; account++) await cache.put(`${account}`, '0', cached('0'));
  await cache.put('9', '0', cached('x'.repeat(4 * SIZE)));

  const kept = await Promise.all(Array.from({ length: 10 }, (_, account) => cache.get(`${account}`, '0')));

  expect(kept.map((found) => found !== undefined)).toEqual([
    ...Array(5).fill(false),
    ...Array(4).fill(true),
    false,
  ]);
});
