import { expect, it } from 'vitest';
import { sectionOf } from './report.ts';

const rows = [
  { name: 'a', verdict: 'reached', measured: '1 ms', ratio: '0.5' },
  { name: 'b', verdict: 'missed', measured: '3 ms', ratio: '1.5', target: '2 ms' },
  { name: 'b', verdict: 'skipped', reason: 'needs root', ratio: '2' },
  { name: 'c', verdict: 'skipped', reason: 'needs root' },
];
const summary = '4 rows: 1 reached, 1 missed, 2 skipped. 2 cores.';

it('lists the rows that did not pass by their reasons', () => {
  expect(sectionOf({ run: '2 cores', rows }).split('\n')).toEqual([
    summary,
    '',
    '- missed: b: 3 ms, target 2 ms',
    '- skipped (needs root): b; c',
  ]);
});

it('joins rows of a table that differ only in the last column', () => {
  expect(sectionOf({ run: '2 cores', columns: ['name', 'ratio'], rows }).split('\n')).toEqual([
    summary,
    '',
    '| name | ratio |',
    '| --- | ---: |',
    '| a | 0.5 |',
    '| b | 1.5; 2 |',
    '| c |  |',
  ]);
});
