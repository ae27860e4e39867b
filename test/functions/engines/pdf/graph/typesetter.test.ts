import { expect, it } from 'vitest';
import { directionOf, visualRuns } from '../../../../../functions/engines/pdf/graph/typesetter.ts';

it.each([
  ['Seite 3 שלום 12', ['Seite 3 ', '12', 'שלום ']],
  ['עמוד 12-34 (PDF)', ['(', 'PDF', ' )', '12-34', 'עמוד ']],
  ['في ١٢ مايو', [' مايو', '١٢', 'في ']],
])('orders %s as it is seen', (line, runs) => {
  expect(visualRuns(line).map(({ text }) => text)).toEqual(runs);
});

it('takes the direction of a paragraph for each of its lines', () => {
  expect(directionOf('1. שלום abc')).toBe('rtl');
  expect(visualRuns('abc שלום', 'rtl').map(({ text }) => text)).toEqual([' שלום', 'abc']);
});
