import type { Row } from '../rows/row.ts';
import { type Box, COLOURS, element, GREY, label, PALE, scale, stroke } from './svg.ts';
import { isMet, short } from './table.ts';

export const ROW_HEIGHT = 22;

/** Draws our time relative to each peer on a logarithmic axis, with a tick at each target. */
export function ratioChart(rows: readonly Row[], { left, top, width, height }: Box): string {
  const names = left + 390;
  const least = Math.min(0.03, ...rows.map(({ value }) => value));
  const x = scale([least / 1.3, 2], [names + 10, left + width - 50], true);
  const grid = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2].filter((value) => value >= least / 1.3);
  const bottom = top + 30 + rows.length * ROW_HEIGHT;
  const parts = [
    label('Time of ours / time of theirs; the mark is the target', left, top + 4, { size: 13, weight: 600 }),
  ];
  for (const value of grid) {
    const at = x(value);
    parts.push(
      stroke(
        [
          [at, top + 22],
          [at, bottom],
        ],
        value === 1 ? GREY : PALE,
        1,
      ),
    );
    parts.push(label(String(value), at, bottom + 14, { anchor: 'middle', fill: GREY }));
  }
  rows.forEach((row, index) => {
    const y = top + 30 + index * ROW_HEIGHT;
    const colour = isMet(row) === false ? COLOURS[4] : isMet(row) ? COLOURS[0] : '#93c5fd';
    parts.push(label(`${row.work} / ${row.peer}`, names, y + 11, { anchor: 'end' }));
    parts.push(
      element('rect', {
        x: x(least / 1.3),
        y,
        width: x(row.value) - x(least / 1.3),
        height: 14,
        fill: colour,
      }),
    );
    parts.push(label(short(row.value), left + width, y + 11, { anchor: 'end', fill: GREY }));
    if (row.target !== undefined) {
      parts.push(
        stroke(
          [
            [x(row.target), y - 3],
            [x(row.target), y + 17],
          ],
          '#111827',
          2,
        ),
      );
    }
  });
  return height > 0 ? parts.join('\n') : '';
}
