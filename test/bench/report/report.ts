import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { describeMachine } from '../../report/machine.ts';
import { writeMeasured } from '../../report/section.ts';
import type { Peers } from '../peers/peers.ts';
import type { Row } from '../rows/row.ts';
import { isMet, writeMarkdown } from './table.ts';

/** The measurements of a run so far. */
export interface Measured {
  readonly rows: readonly Row[];
  readonly peers: Peers;
  /** Parts that could not be measured, and why. */
  readonly failures: readonly string[];
}

const README = join(import.meta.dirname, '../README.md');

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
