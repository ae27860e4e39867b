import type { Row } from '../rows/row.ts';

/** Whether a row meets its target; rows without one only inform. */
export function isMet({ value, target, atLeast = false }: Row): boolean | undefined {
  if (target === undefined) return undefined;
  return atLeast ? value >= target : value <= target;
}

/** Writes the rows as text columns. */
export function writeTable(rows: readonly Row[]): string {
  const head = ['work', 'against', 'ours', 'theirs', 'ratio', 'target', ''];
  const lines = [head, ...rows.map(cells)];
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  const numbers = new Set([2, 3, 4, 5]);
  return lines
    .map((cells) =>
      cells
        .map((cell, column) =>
          numbers.has(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cells(row: Row): string[] {
  const { work, peer, unit, ours, theirs, value, target, atLeast, note = '' } = row;
  const met = isMet(row);
  return [
    work,
    peer,
    `${short(ours)} ${unit}`,
    theirs === undefined ? '' : `${short(theirs)} ${unit}`,
    theirs === undefined ? '' : short(value),
    target === undefined ? '' : `${atLeast ? '≥' : '≤'} ${target}`,
    [met === undefined ? '' : met ? 'met' : 'MISSED', note].filter((part) => part !== '').join('; '),
  ];
}

/** Writes a number with three digits that count. */
export function short(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(Math.abs(value) >= 1 ? 2 : 3);
}
