import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
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
const SECTION = /(<!-- bench -->\n)([\s\S]*?)(<!-- end -->)/;

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
  const readme = await readFile(README, 'utf8');
  const earlier = isPart ? SECTION.exec(readme)?.[2] : '';
  const table = `${machine.cores} cores, Node.js ${machine.node}.\n\n${writeMarkdown(rows, earlier)}`;
  await writeFile(
    README,
    readme.replace(SECTION, (_, begin, _earlier, end) => `${begin}\n${table}\n\n${end}`),
  );
}
