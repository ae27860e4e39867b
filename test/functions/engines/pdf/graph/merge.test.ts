import { expect, it } from 'vitest';
import { freeName } from '../../../../../functions/engines/pdf/graph/merge.ts';

it('numbers files of the same name in any case, past the names that others have', () => {
  const taken = new Map<string, number>();
  const names = ['a.txt', 'A.TXT', 'a (3).txt', 'a.txt', 'b', 'B'].map((name) => freeName(name, taken));

  expect(names).toEqual(['a.txt', 'A (2).TXT', 'a (3).txt', 'a (4).txt', 'b', 'B (2)']);
});

it('does not try again the numbers that files of the same name have', () => {
  let tried = 0;
  class Counted extends Map<string, number> {
    override has(name: string) {
      tried += 1;
      return super.has(name);
    }
  }
  const taken = new Counted();

  expect(Array.from({ length: 1000 }, () => freeName('a.txt', taken)).at(-1)).toBe('a (1000).txt');
  expect(tried).toBeLessThan(4000);
});
