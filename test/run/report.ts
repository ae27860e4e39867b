import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';

/** Returns the flags and positional arguments of a command. Prints how to use it and exits with 2 if they are wrong. */
export function readArguments<Options extends NonNullable<ParseArgsConfig['options']>>(
  usage: string,
  options: Options,
) {
  const fail = (reason: string): never => {
    process.stderr.write(`${reason}\nUsage: ${usage}\n`);
    process.exit(2);
  };
  try {
    const { values, positionals } = parseArgs({ options, allowPositionals: true });
    return { values, positionals, fail };
  } catch (thrown) {
    return fail((thrown as Error).message);
  }
}

/** Returns the value of a flag as an integer within bounds, or fails. */
export function readInteger(
  [name, text]: readonly [name: string, text: string],
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
  fail: (reason: string) => never,
): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  return fail(`--${name} is an integer from ${min}${max < Number.MAX_SAFE_INTEGER ? ` to ${max}` : ''}.`);
}

/** Returns those names that were asked for, all if none was. Fails for names that do not exist. */
export function chooseNames(
  all: readonly string[],
  asked: readonly string[],
  fail: (reason: string) => never,
): readonly string[] {
  const unknown = asked.filter((name) => !all.includes(name));
  if (unknown.length > 0) return fail(`Unknown: ${unknown.join(', ')}. There are ${all.join(', ')}.`);
  return asked.length > 0 ? asked : all;
}

/** Describes the machine that measured, for the text above a table. */
export function describeMachine(): string {
  return `${availableParallelism()} cores, Node.js ${process.version}, load ${loadavg()[0]!.toFixed(1)} at the end`;
}

const INTERVAL = 10_000;
const TERMINAL_INTERVAL = 100;

/** Shows how far a run is: one line that is overwritten in a terminal, a line every ten seconds elsewhere. */
export function showProgress(output = process.stderr) {
  let shown = output.isTTY ? 0 : Date.now();
  return {
    show(text: string): void {
      if (Date.now() - shown < (output.isTTY ? TERMINAL_INTERVAL : INTERVAL)) return;
      shown = Date.now();
      output.write(output.isTTY ? `\r\x1b[K${text}` : `${text}\n`);
    },
    end: () => void (output.isTTY && output.write('\r\x1b[K')),
  };
}

/** Begins a generated section of a README, `<!-- table: NAME -->` or `<!-- measured: NAME -->`. It ends with `<!-- end -->`. */
const SECTION = /(<!-- (table|measured|permissions): (.+?) -->\n)([\s\S]*?)(<!-- end -->)/g;

/** Replaces the sections of one kind in a text. */
export function replaceSections(
  text: string,
  kind: 'table' | 'measured' | 'permissions',
  write: (name: string) => string,
): string {
  return text.replace(SECTION, (section, begin, ownKind, name, _earlier, end) =>
    ownKind === kind ? `${begin}\n${write(name)}\n\n${end}` : section,
  );
}

/** A row by column. Lists use `name`, `verdict`, `reason`, `measured` and `target`; the other columns are only in the data file. */
type MeasuredRow = Readonly<Record<string, Cell | undefined>>;

/** All rows of a run. The READMEs show only a part of them. */
export interface Measured {
  /** The extent of the run and the machine. */
  readonly run: string;
  /**
   * Columns of a table of all rows. Rows that differ only in the last one share a line. Without columns, the README lists the
   * rows that did not pass.
   */
  readonly columns?: readonly string[];
  readonly rows: readonly MeasuredRow[];
}

/** Items of a list of rows that did not pass for the same reason. */
const MAX_ITEMS = 12;

/** Verdicts of rows that lists leave out. */
const PASSED: ReadonlyArray<Cell | undefined> = ['reached', 'same'];

/** Describes a run: how many rows have each verdict, and a table of all rows, or those that did not pass by their reasons. */
export function sectionOf({ run, columns, rows }: Measured): string {
  const open = rows.filter(({ verdict }) => !PASSED.includes(verdict));
  const verdicts = Map.groupBy(
    [...rows.filter((row) => !open.includes(row)), ...open],
    ({ verdict }) => verdict,
  );
  const counts = [...verdicts].map(([verdict, own]) => `${own.length} ${verdict}`).join(', ');
  const summary = verdicts.has(undefined) ? `${run}.` : `${rows.length} rows: ${counts}. ${run}.`;
  if (columns) {
    const cellsOf = (row: MeasuredRow) => columns.map((column) => row[column] ?? '');
    const lines = Map.groupBy(rows.map(cellsOf), (cells) => cells.slice(0, -1).join());
    const cells = [...lines.values()].map((own) => [
      ...own[0]!.slice(0, -1),
      own.map((each) => each.at(-1)!).join('; '),
    ]);
    return `${summary}\n\n${markdownTable(columns, cells)}`;
  }
  const groups = Map.groupBy(open, ({ verdict, reason }) => (reason ? `${verdict} (${reason})` : verdict));
  const list = [...groups].map(([title, own]) => {
    const more = own.length > MAX_ITEMS ? ` and ${own.length - MAX_ITEMS} more in \`results.json\`` : '';
    return `- ${title}: ${own.slice(0, MAX_ITEMS).map(itemOf).join('; ')}${more}`;
  });
  return [summary, ...(list.length > 0 ? ['', ...list] : [])].join('\n');
}

function itemOf({ name, measured, target }: MeasuredRow): string {
  if (!measured) return `${name}`;
  return `${name}: ${measured}${target ? `, target ${target}` : ''}`;
}

/** Reads the data file of a folder: the last runs, by section of the README. */
export function readMeasured(folder: string): Readonly<Record<string, Measured>> {
  return JSON.parse(readFileSync(join(folder, 'results.json'), 'utf8'));
}

/** Fills the measured sections of a README from the data file beside it. */
export function fillMeasured(readme: string, folder: string): string {
  return replaceSections(readme, 'measured', (name) => sectionOf(readMeasured(folder)[name]!));
}

/** Writes a run into the data file of a folder, a row per line, and into its section of the README there. */
export function writeMeasured(folder: string, name: string, measured: Measured): void {
  const sections = Object.entries({ ...readMeasured(folder), [name]: measured }).map(
    ([section, { rows, ...run }]) => {
      const lines = rows.map((row) => JSON.stringify(row)).join(',\n');
      return `${JSON.stringify(section)}: ${JSON.stringify({ ...run, rows: [] }).slice(0, -2)}\n${lines}\n]}`;
    },
  );
  writeFileSync(join(folder, 'results.json'), `{\n${sections.join(',\n')}\n}\n`);
  const readme = join(folder, 'README.md');
  writeFileSync(readme, fillMeasured(readFileSync(readme, 'utf8'), folder));
}

type Cell = string | number;
type Align = 'left' | 'right';

/** Formats a Markdown table. Columns of numbers are aligned to the right. */
export function markdownTable(head: readonly string[], rows: ReadonlyArray<readonly Cell[]>): string {
  const isNumeric = (at: number) => rows.length > 0 && rows.every((row) => /^(\d|$)/.test(String(row[at])));
  const lines = head.map((_, at) => (isNumeric(at) ? '---:' : '---'));
  return [markdownRow(head), `| ${lines.join(' | ')} |`, ...rows.map(markdownRow)].join('\n');
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
