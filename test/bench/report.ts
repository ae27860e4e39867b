import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { describeMachine, markdownRow, markdownTable, textTable, writeMeasured } from '../run/report.ts';
import type { Peers } from './peers.ts';
import type { Row } from './row.ts';

/** Whether a row meets its target. Rows without one are only informative. */
function isMet({ value, target, atLeast = false }: Row): boolean | undefined {
  if (target === undefined) return undefined;
  return atLeast ? value >= target : value <= target;
}

/** Formats the rows as text columns. */
export function writeTable(rows: readonly Row[]): string {
  const head = ['work', 'against', 'ours', 'theirs', 'ratio', 'target', ''];
  return textTable([head, ...rows.map(cells)], (column) => (column >= 2 && column <= 5 ? 'right' : 'left'));
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
    [met === undefined ? '' : met ? 'met' : 'missed', note].filter((part) => part !== '').join('; '),
  ];
}

/** Formats a number with three significant digits. */
function short(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(Math.abs(value) >= 1 ? 2 : 3);
}

const HEAD = ['work', 'against', '#ours', '#theirs', '#ratio', '#target', ''];

/**
 * Writes the rows as a Markdown table, in place of the same rows of an earlier table, whose other rows are kept. Rows that miss
 * their target are at the end.
 */
export function writeMarkdown(rows: readonly Row[], earlier = ''): string {
  const measured = rows.map((row) => markdownRow(cells(row)));
  const head = markdownTable(HEAD, []);
  const earlierLines = earlier
    .split('\n')
    .filter((line) => line.startsWith('| ') && !head.split('\n').includes(line));
  const kept = earlierLines.map((line) => measured.find((each) => sameWork(each, line)) ?? line);
  const all = [...kept, ...measured.filter((line) => !kept.includes(line))];
  const { false: others = [], true: missed = [] } = Object.groupBy(all, (line) =>
    line.includes('| missed') ? 'true' : 'false',
  );
  return [head, ...others, ...missed].join('\n');
}

/** Whether two lines have the same first two cells. */
function sameWork(line: string, other: string): boolean {
  const work = (text: string) => text.split(' | ', 2).join(' | ');
  return work(line) === work(other);
}

/** The measurements of a run so far. */
interface Measured {
  readonly rows: readonly Row[];
  readonly peers: Peers;
  /** Parts that could not be measured, and why. */
  readonly failures: readonly string[];
}

const README = join(import.meta.dirname, 'README.md');

/**
 * Writes everything as JSON to `out`, and with `write` into the table of the README: only the measured rows
 * if that is a part of all.
 */
export async function writeReport(
  { rows, peers, failures }: Measured,
  { out, write, isPart }: { out: string; write: boolean; isPart: boolean },
): Promise<void> {
  const machine = {
    cores: availableParallelism(),
    processor: cpus()[0]?.model,
    node: process.version,
    load: loadavg()[0],
  };
  const judged = rows.map((row) => ({ ...row, met: isMet(row) }));
  const report = { machine, rows: judged, peers, failures };
  await writeFile(join(out, 'bench.json'), `${JSON.stringify(report, null, 1)}\n`);
  if (!write) return;
  writeMeasured(README, 'speed', (earlier) => {
    const table = writeMarkdown(rows, isPart ? earlier : '');
    return `${describeMachine()}.\n\n${table}`;
  });
}
