import { join } from 'node:path';
import { describeMachine } from '../report/machine.ts';
import { writeMeasured } from '../report/section.ts';
import type { Reached, Row } from './row.ts';
import { headOf, rowLine } from './table.ts';

const README = join(import.meta.dirname, 'README.md');

/** One run of the whole table. */
export interface Run {
  /** Name of the deployment. */
  readonly deployment: string;
  readonly minutes: number;
  readonly rows: ReadonlyArray<{ readonly row: Row; readonly reached: Reached; readonly seconds: number }>;
}

/** Replaces the table of a deployment in a README with that of a run. A row that failed stays in it. */
export function writeReadme({ deployment, minutes, rows }: Run, file = README): void {
  const lines = rows.map(({ row, reached, seconds }) => rowLine(row, reached, seconds));
  const run = `One run of ${rows.length} rows in ${minutes.toFixed(0)} minutes: ${describeMachine()}.`;
  writeMeasured(file, deployment, () => [run, '', headOf(''), ...lines].join('\n'));
}
