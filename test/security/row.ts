import { describeMachine, markdownRow, markdownTable, showProgress, writeMeasured } from '../run/report.ts';
import type { Canary } from './checks.ts';
import type { Deployment } from './deployment/deployment.ts';
import { runRow } from './neighbor/service.ts';

/** The result of one row of the table. */
export interface Reached {
  /** Printed beside the target. */
  readonly figure: string;
  /** One line for each failed case. */
  readonly failures: readonly string[];
  /** Information that is not a failure. */
  readonly notes?: readonly string[];
  /** Why it could not run on this machine. Always printed, and never counted as reached. */
  readonly skipped?: string;
  /** Why nothing failed, but the run does not show that the target is met. Always printed, and never counted as reached. */
  readonly unproven?: string;
}

/** How much of a row is run: a few of its cases in `npm test`, the table, or all repetitions of a row that was named. */
export type Extent = 'short' | 'table' | 'all';

export interface Effort {
  readonly extent: Extent;
  progress(done: number, total: number): void;
  /** Searches for API keys in everything that it gets. */
  readonly canary: Canary;
  /** The deployment under attack. */
  readonly deployment: Deployment;
}

/** One line of the table: what is attacked, the target, and the attack. */
export interface Row {
  /** Name for the command line. */
  readonly name: string;
  /** At most 50 characters. */
  readonly title: string;
  /** Unit of the figures, if the title does not say it. */
  readonly figures?: string;
  readonly target: string;
  run(effort: Effort): Promise<Reached>;
  /** The attack itself, if the row runs it in a network namespace. */
  readonly inside?: (effort: Effort) => Promise<Reached>;
}

/** Chooses a number, such as that of repetitions, by the extent of a run. */
export function amount(
  { extent }: Pick<Effort, 'extent'>,
  table: number,
  { short = table, all = table }: { readonly short?: number; readonly all?: number },
): number {
  return { short, table, all }[extent];
}

/** How often the whole table repeats a row because the machine was too busy to show anything. */
const MAX_REPEATS = 2;

/** A row with its result. */
export interface Done {
  readonly row: Row;
  readonly reached: Reached;
  readonly seconds: number;
}

/** Runs a row, and shows its progress. */
export async function runWithProgress(row: Row, effort: Omit<Effort, 'progress'>): Promise<Done> {
  const started = Date.now();
  const secondsSince = () => Math.round((Date.now() - started) / 1000);
  const { show, end } = showProgress();
  const tell = (text: string) => show(`${row.name} ${text}`);
  const progress = (done: number, total: number) => tell(`${done}/${total}, ${secondsSince()} s`);
  tell('…');
  let reached = await runRow(row, { ...effort, progress });
  for (let again = 0; effort.extent === 'table' && isOpen(reached) && again < MAX_REPEATS; again += 1) {
    tell('again, because the machine was busy');
    reached = await runRow(row, { ...effort, progress });
  }
  end();
  return { row, reached, seconds: secondsSince() };
}

/** The head of the table, with a name in its first cell. */
export const headOf = (name: string) =>
  markdownTable([name, 'attack', 'figures', 'target', 'measured', 'time'], []);

/** Whether a row reached its target, failed, or showed neither. */
function markOf({ failures, skipped, unproven }: Reached): '✓' | '✗' | '!' {
  if (failures.length > 0) return '✗';
  return skipped === undefined && unproven === undefined ? '✓' : '!';
}

function isOpen({ failures, unproven }: Reached): boolean {
  return failures.length === 0 && unproven !== undefined;
}

function rowLine({ row: { title, figures = '', target }, reached, seconds }: Done): string {
  return markdownRow([markOf(reached), title, figures, target, reached.figure, `${seconds} s`]);
}

/** Formats a row of the table as Markdown, with its failures below it. */
export function rowText(done: Done): string {
  const { failures, notes = [], skipped, unproven } = done.reached;
  const details = [
    ...(skipped === undefined ? [] : [`SKIPPED: ${skipped}`]),
    ...(unproven === undefined ? [] : [`NOT PROVEN: ${unproven}`]),
    ...failures.slice(0, 20),
    ...(failures.length > 20 ? [`and ${failures.length - 20} more`] : []),
    ...notes.map((note) => `(${note})`),
  ];
  return [rowLine(done), ...details.map((detail) => `      ${detail}`)].join('\n');
}

/** Writes all rows of a run into the data file of this folder, and those that missed their target into the README. */
export function writeRows(deployment: string, minutes: number, done: readonly Done[]): void {
  const rows = done.map(({ row, reached, seconds }) => {
    const { failures, skipped, unproven } = reached;
    const open = skipped ? 'skipped' : 'not proven';
    const verdict = { '✓': 'reached', '✗': 'missed', '!': open }[markOf(reached)];
    const reason = failures.length > 0 ? undefined : (skipped ?? unproven);
    const measured = skipped ? '' : [row.figures, reached.figure].filter(Boolean).join(': ');
    return { name: row.title, verdict, reason, measured, target: row.target, seconds };
  });
  const run = `${minutes.toFixed(0)} minutes, ${describeMachine()}`;
  writeMeasured(import.meta.dirname, deployment, { run, rows });
}
