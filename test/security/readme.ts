import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import type { Reached, Row } from './row.ts';
import { HEAD, markOf } from './table.ts';

const README = join(import.meta.dirname, 'README.md');

/** One run of the whole table. */
export interface Run {
  /** Name of the deployment. */
  readonly deployment: string;
  readonly minutes: number;
  readonly rows: ReadonlyArray<{ readonly row: Row; readonly reached: Reached; readonly seconds: number }>;
}

/** Replaces the table of a deployment in a README with that of a run. A row that failed stays in it. */
export function writeReadme(run: Run, file = README): void {
  const text = readFileSync(file, 'utf8');
  const [begin, end] = [`<!-- security: ${run.deployment} -->`, '<!-- end security -->'];
  const from = text.indexOf(begin);
  const to = text.indexOf(end, from);
  if (from < 0 || to < 0) throw new Error(`${file} has no section ${begin}.`);
  writeFileSync(file, `${text.slice(0, from + begin.length)}\n\n${sectionOf(run)}\n\n${text.slice(to)}`);
}

function sectionOf({ minutes, rows }: Run): string {
  const lines = rows.map(({ row, reached, seconds }) => {
    const cells = [row.title, row.figures ?? '', row.target, reached.figure, `${seconds} s`];
    return `| ${[markOf(reached), ...cells].join(' | ')} |`;
  });
  const [load] = loadavg();
  const machine = `${availableParallelism()} cores, Node.js ${process.version}, load ${load!.toFixed(1)} at the end`;
  return `One run of ${rows.length} rows in ${minutes.toFixed(0)} minutes: ${machine}.\n\n${HEAD('')}\n${lines.join('\n')}`;
}
