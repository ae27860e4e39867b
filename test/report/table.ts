type Cell = string | number;
type Align = 'left' | 'right';

/** Formats a Markdown table. Columns whose name begins with `#` are numbers, aligned to the right. */
export function markdownTable(head: readonly string[], rows: ReadonlyArray<readonly Cell[]>): string {
  const names = head.map((name) => name.replace('#', ''));
  const lines = head.map((name) => (name.startsWith('#') ? '---:' : '---'));
  return [markdownRow(names), `| ${lines.join(' | ')} |`, ...rows.map(markdownRow)].join('\n');
}

/** Formats one row of a Markdown table. */
export function markdownRow(cells: readonly Cell[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

/** Formats rows as columns of text. */
export function textTable(rows: ReadonlyArray<readonly Cell[]>, align: (column: number) => Align): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  const pad = (cell: Cell, column: number) =>
    String(cell)[align(column) === 'right' ? 'padStart' : 'padEnd'](widths[column]!);
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}
