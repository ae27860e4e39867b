import { expect, it } from 'vitest';
import { writeMarkdown } from './report.ts';
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
  const earlier = writeMarkdown([row('a', 'x', 1), row('a', 'y', 1), row('b', '', 1)]);

  const table = writeMarkdown([row('a', 'y', 3), row('c', '', 1)], `2 cores.\n\n${earlier}\n`);

  expect(table.split('\n').slice(2)).toEqual([
    '| a | x | 1.00 ms |  |  | ≤ 2 | met |',
    '| b |  | 1.00 ms |  |  | ≤ 2 | met |',
    '| c |  | 1.00 ms |  |  | ≤ 2 | met |',
    '| a | y | 3.00 ms |  |  | ≤ 2 | missed |',
  ]);
});
