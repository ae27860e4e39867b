import { showProgress } from '../report/progress.ts';
import { markdownRow, markdownTable } from '../report/table.ts';
import type { Canary } from './checks/canary.ts';
import type { Deployment } from './deployment/deployment.ts';
import { runRow } from './neighbor/watch.ts';
import { amounts, type Effort, type Extent, type Reached, type Row } from './row.ts';

/** How often the whole table repeats a row because the machine was too busy to show anything. */
const MAX_REPEATS = 2;

/** Runs rows one after the other, shows the progress, and reports each result. */
export async function runRows(
  rows: readonly Row[],
  { extent, canary, deployment }: { extent: Extent; canary: Canary; deployment: Deployment },
  tell: (row: Row, reached: Reached, seconds: number) => void,
): Promise<boolean> {
  let passed = true;
  for (const row of rows) {
    const started = Date.now();
    const { show, end } = showProgress();
    const tellProgress = (text: string) => show(`${row.name} ${text}`);
    const effort: Effort = {
      ...amounts(extent),
      progress: (done, total) =>
        tellProgress(`${done}/${total}, ${Math.round((Date.now() - started) / 1000)} s`),
      canary,
      deployment,
    };
    tellProgress('…');
    let reached = await runRow(row, effort);
    for (let again = 0; extent === 'table' && isOpen(reached) && again < MAX_REPEATS; again += 1) {
      tellProgress('again, because the machine was busy');
      reached = await runRow(row, effort);
    }
    end();
    passed &&= reached.failures.length === 0;
    tell(row, reached, Math.round((Date.now() - started) / 1000));
  }
  return passed;
}

/** The head of the table, with a name in its first cell. */
export const headOf = (name: string) =>
  markdownTable([name, 'attack', 'figures', 'target', 'measured', 'time'], []);

/** Whether a row reached its target, failed, or showed neither. */
function markOf({ failures, skipped, unproven }: Reached): string {
  if (failures.length > 0) return '✗';
  return skipped === undefined && unproven === undefined ? '✓' : '!';
}

function isOpen({ failures, unproven }: Reached): boolean {
  return failures.length === 0 && unproven !== undefined;
}

/** Formats a row of the table as Markdown. */
export function rowLine({ title, figures = '', target }: Row, reached: Reached, seconds: number): string {
  return markdownRow([markOf(reached), title, figures, target, reached.figure, `${seconds} s`]);
}

/** Formats a row of the table as Markdown, with its failures below it. */
export function rowText(row: Row, reached: Reached, seconds: number): string {
  const { failures, notes = [], skipped, unproven } = reached;
  const shown = failures.slice(0, 20).map((failure) => `      ${failure}`);
  const more = failures.length > 20 ? [`      and ${failures.length - 20} more`] : [];
  const skip = skipped === undefined ? [] : [`      SKIPPED: ${skipped}`];
  const open = unproven === undefined ? [] : [`      NOT PROVEN: ${unproven}`];
  const noted = notes.map((note) => `      (${note})`);
  return [rowLine(row, reached, seconds), ...skip, ...open, ...shown, ...more, ...noted].join('\n');
}
