import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { ASSUMPTIONS, PRICES } from '../fleet/prices.ts';
import type { FleetPoint } from '../fleet/simulate.ts';
import type { Peers } from '../peers/peers.ts';
import type { Cold } from '../rows/cold.ts';
import type { Curve } from '../rows/curve.ts';
import type { Row } from '../rows/row.ts';
import type { Warm } from '../rows/share.ts';
import type { Throughput } from '../rows/throughput.ts';
import { writeFleetTable } from './fleet-table.ts';
import { writePlot } from './plot.ts';
import { isMet, writeTable } from './table.ts';

/** All measurements of one run. */
export interface Measured {
  readonly rows: readonly Row[];
  readonly warm: readonly Warm[];
  readonly throughput: readonly Throughput[];
  readonly cold: Cold;
  readonly curves: readonly Curve[];
  readonly fleet: readonly FleetPoint[];
  readonly peers: Peers;
  /** Parts that could not be measured, and why. */
  readonly failures: readonly string[];
}

/** Prints the tables and writes everything as JSON and as an image. The image of a full run is stored for the README. */
export async function writeReport(
  measured: Measured,
  { out, whole }: { out: string; whole: boolean },
): Promise<void> {
  const machine = {
    cores: availableParallelism(),
    processor: cpus()[0]?.model,
    node: process.version,
    load: loadavg()[0],
  };
  const rows = measured.rows.map((row) => ({ ...row, met: isMet(row) }));
  const report = { machine, ...measured, rows, prices: PRICES, assumptions: ASSUMPTIONS };
  await writeFile(join(out, 'bench.json'), `${JSON.stringify(report, null, 1)}\n`);
  const plot = writePlot(measured);
  await writeFile(join(out, 'bench.svg'), plot);
  if (whole) await writeFile(join(import.meta.dirname, '../bench.svg'), plot);

  print(writeTable(measured.rows));
  if (measured.fleet.length > 0) print(writeFleetTable(measured.fleet));
  for (const failure of measured.failures) print(`Not measured: ${failure}`);
  const { missing } = measured.peers;
  if (missing.length > 0) print(`Debian packages of peers that are not here: ${missing.join(', ')}`);
}

function print(text: string): void {
  process.stdout.write(`\n${text}\n`);
}
