import { expect, it } from 'vitest';
import { inTurn } from './comparison.ts';

it('tries another source if one does not count', async () => {
  const tried: string[] = [];
  const compareSome = inTurn(['a', 'damaged', 'b', 'c', 'd']);
  const compare = async (source: string) => {
    tried.push(source);
    return source !== 'damaged';
  };

  await compareSome({ wanted: 2, maxTries: 4 }, compare);
  await compareSome({ wanted: 3, maxTries: 9 }, compare);

  expect(tried).toEqual(['a', 'damaged', 'b', 'c', 'd', 'a']);
});

it('stops after the maximum number of sources, or after all of them', async () => {
  const tried: string[] = [];
  const compareSome = inTurn(['a', 'b', 'c']);
  const compare = async (source: string) => {
    tried.push(source);
    return false;
  };

  await compareSome({ wanted: 1, maxTries: 2 }, compare);
  await compareSome({ wanted: 1, maxTries: 9 }, compare);

  expect(tried).toEqual(['a', 'b', 'c', 'a', 'b']);
});
