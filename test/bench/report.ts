import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { describeMachine, readMeasured, textTable, writeMeasured } from '../run/report.ts';
import type { Peers } from './peers.ts';
import type { Row } from './row.ts';

/** Whether a row meets its target. Rows without one are only informative. */
function isMet({ value, target, atLeast = false }: Row): boolean | undefined {
  if (target === undefined) return undefined;
  return atLeast ? value >= target : value <= target;
}

const RATIO = 'ratio to theirs, target';

/** Formats the rows as text columns. */
export function writeTable(rows: readonly Row[]): string {
  const head = ['work', 'ours', 'theirs', RATIO, 'verdict', 'note'] as const;
  const lines = rows.map(cellsOf).map((line) => head.map((column) => line[column]));
  return textTable([head, ...lines], (column) => (column === 1 || column === 2 ? 'right' : 'left'));
}

function cellsOf(row: Row) {
  const { work, peer, unit, ours, theirs, value, target, atLeast = false, note = '' } = row;
  const met = isMet(row);
  const sign = met ? (atLeast ? '≥' : '≤') : atLeast ? '<' : '>';
  const bound = target === undefined ? '' : `${sign} ${target}`;
  const ratio = theirs === undefined ? '' : short(value);
  return {
    work,
    against: peer,
    ours: `${short(ours)} ${unit}`,
    theirs: theirs === undefined ? '' : `${short(theirs)} ${unit}`,
    [RATIO]: [peer && `${peer}:`, ratio, bound].filter(Boolean).join(' '),
    verdict: met === undefined ? 'without a target' : met ? 'reached' : 'missed',
    note,
  };
}

/** Formats a number with three significant digits. */
function short(value: number): string {
  if (Math.abs(value) >= 100) return value.toFixed(0);
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(Math.abs(value) >= 1 ? 2 : 3);
}

type Line = ReturnType<typeof cellsOf>;

/** Replaces the same rows of an earlier run, and keeps its others. Rows that miss their target are at the end. */
export function mergeRows(rows: readonly Row[], earlier: readonly Line[]): Line[] {
  const keyOf = ({ work, against }: Line) => `${work} | ${against}`;
  const all = new Map([...earlier, ...rows.map(cellsOf)].map((line) => [keyOf(line), line]));
  return [...all.values()].sort((a, b) => Number(a.verdict === 'missed') - Number(b.verdict === 'missed'));
}

/** The measurements of a run so far. */
interface Measured {
  readonly rows: readonly Row[];
  readonly peers: Peers;
  /** Parts that could not be measured, and why. */
  readonly failures: readonly string[];
}

/**
 * Writes everything as JSON to `out`, and with `write` into the data file and the README of this folder: only the
 * measured rows if that is a part of all.
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
  const earlier = isPart ? (readMeasured(import.meta.dirname).speed!.rows as readonly Line[]) : [];
  writeMeasured(import.meta.dirname, 'speed', {
    run: describeMachine(),
    columns: ['work', 'ours', RATIO],
    rows: mergeRows(rows, earlier),
  });
}
