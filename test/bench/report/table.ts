import type { Row } from '../rows/row.ts';

/** Whether a row meets its target. Rows without one are only informative. */
export function isMet({ value, target, atLeast = false }: Row): boolean | undefined {
  if (target === undefined) return undefined;
  return atLeast ? value >= target : value <= target;
}

/** Formats the rows as text columns. */
export function writeTable(rows: readonly Row[]): string {
  const head = ['work', 'against', 'ours', 'theirs', 'ratio', 'target', ''];
  return align([head, ...rows.map(cells)], (column) => column >= 2 && column <= 5);
}

/** Aligns the cells of lines in columns, numbers to the right. */
function align(lines: ReadonlyArray<readonly string[]>, isNumber: (column: number) => boolean): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  const pad = (cell: string, column: number) =>
    isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!);
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
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

/** Formats a number with three significant digits. */
function short(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(Math.abs(value) >= 1 ? 2 : 3);
}

const HEAD = [
  '| work | against | ours | theirs | ratio | target | |',
  '| --- | --- | ---: | ---: | ---: | ---: | --- |',
];

/** Writes the rows as a Markdown table, in place of the same rows of an earlier table, whose other rows are kept. */
export function writeMarkdown(rows: readonly Row[], earlier = ''): string {
  const measured = rows.map(markdownLine);
  const earlierLines = earlier.split('\n').filter((line) => line.startsWith('| ') && !HEAD.includes(line));
  const kept = earlierLines.map((line) => measured.find((each) => sameWork(each, line)) ?? line);
  const added = measured.filter((line) => !kept.includes(line));
  return [...HEAD, ...kept, ...added].join('\n');
}

function markdownLine(row: Row): string {
  const escaped = cells(row).map((cell) => cell.replaceAll('|', '\\|'));
  return `| ${escaped.join(' | ')} |`;
}

/** Whether two lines have the same first two cells. */
function sameWork(line: string, other: string): boolean {
  const work = (text: string) => text.split(' | ', 2).join(' | ');
  return work(line) === work(other);
}
