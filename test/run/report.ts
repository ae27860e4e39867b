import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
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
const SECTION = /(<!-- (table|measured): (.+?) -->\n)([\s\S]*?)(<!-- end -->)/g;

/** Replaces the sections of one kind in a text. `write` gets the name and the earlier content of each, and may keep it. */
export function replaceSections(
  text: string,
  kind: 'table' | 'measured',
  write: (name: string, earlier: string) => string | undefined,
): string {
  return text.replace(SECTION, (section, begin, ownKind, name, earlier, end) => {
    const content = ownKind === kind ? write(name, earlier.trim()) : undefined;
    return content === undefined ? section : `${begin}\n${content}\n\n${end}`;
  });
}

/**
 * Writes measurements into their section of a README.
 * @throws Error if the README has no section of that name.
 */
export function writeMeasured(readme: string, name: string, write: (earlier: string) => string): void {
  let isFound = false;
  const text = replaceSections(readFileSync(readme, 'utf8'), 'measured', (each, earlier) => {
    if (each !== name) return undefined;
    isFound = true;
    return write(earlier);
  });
  if (!isFound) throw new Error(`${readme} has no section <!-- measured: ${name} -->.`);
  writeFileSync(readme, text);
}

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
