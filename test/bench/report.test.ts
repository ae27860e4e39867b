import { expect, it } from 'vitest';
import { mergeRows } from './report.ts';
import type { Row } from './row.ts';

const row = (work: string, peer: string, ours: number): Row => ({
  work,
  peer,
  unit: 'ms',
  ours,
  value: ours,
  target: 2,
});

it('replaces the rows that were measured again, keeps the others, and ends with those that miss their target', () => {
  const earlier = mergeRows([row('a', 'x', 1), row('a', 'y', 1), row('b', '', 1)], []);

  const merged = mergeRows([row('a', 'y', 3), row('c', '', 1)], earlier);

  expect(merged.map((line) => [line.work, line['ratio to theirs, target']])).toEqual([
    ['a', 'x: ≤ 2'],
    ['b', '≤ 2'],
    ['c', '≤ 2'],
    ['a', 'y: > 2'],
  ]);
});
