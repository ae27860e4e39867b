// Compares the service with the programs that users would otherwise run: `npm run bench -- [--quick | --long]
// [--only=part,…] [DIR]`.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import * as tools from '../../functions/tools.ts';
import { simulateRates } from './fleet/fleet.ts';
import { prepareInputs } from './inputs/inputs.ts';
import { findPeers } from './peers/peers.ts';
import { writeReport } from './report/report.ts';
import { type Cold, measureCold } from './rows/cold.ts';
import { type Curve, curveRows, measureCurves } from './rows/curve.ts';
import { measureGrowth } from './rows/growth.ts';
import type { Bench, Row } from './rows/row.ts';
import { measureWarm, shareRows, type Warm } from './rows/share.ts';
import { measureThroughput, type Throughput, throughputRows } from './rows/throughput.ts';
import { measureImage } from './rows/tools/image.ts';
import { measureOffice } from './rows/tools/office.ts';
import { measurePdf } from './rows/tools/pdf.ts';
import { measureWeb } from './rows/tools/web.ts';
import { startOwnService } from './service/service.ts';
import { serveSources } from './service/source-server.ts';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const root = join(import.meta.dirname, '../..');
const out = join(root, 'dist/bench');
await mkdir(out, { recursive: true });

const peers = await findPeers(process.env.PATH ?? '');
if (peers.missing.length > 0) say(`Not here, so not measured against: ${peers.missing.join(', ')}`);
const inputs = await prepareInputs(join(out, 'inputs'), {
  given: positionals[0],
  fonts: join(root, 'dist/layers/fonts'),
  peers,
});
const sources = await serveSources(inputs.folder);
const directory = await mkdtemp(join(out, 'work-'));
const service = await startOwnService(sources.host);
const bench: Bench = {
  ...{ service, peers, inputs, directory, say },
  urlOf: sources.urlOf,
  tools: new Set(Object.values(tools).map(({ name }) => name)),
  quick: flags.quick,
};

const rows: Row[] = [];
const failures: string[] = [];
await measure('pdf', async () => rows.push(...(await measurePdf(bench))));
await measure('office', async () => rows.push(...(await measureOffice(bench))));
await measure('web', async () => rows.push(...(await measureWeb(bench))));
await measure('image', async () => rows.push(...(await measureImage(bench))));
const warm: Warm[] = [];
await measure('share', async () => warm.push(...(await measureWarm(bench))));
rows.push(...shareRows(warm));
const throughput: Throughput[] = [];
await measure('throughput', async () => throughput.push(...(await measureThroughput(bench))));
rows.push(...throughputRows(throughput));
const cold: Record<string, number> = {} satisfies Cold;
await measure('cold', async () => {
  const measured = await measureCold(bench);
  rows.push(...measured.rows);
  Object.assign(cold, measured.cold);
});
const curves: Curve[] = [];
await measure('curve', async () => curves.push(...(await measureCurves(bench))));
rows.push(...curveRows(curves));
if (flags.long) await measure('growth', async () => rows.push(...(await measureGrowth(bench))));
const fleet = simulateRates(warm, cold);

await service.close();
sources.close();
await rm(directory, { recursive: true, force: true });
const whole = flags.only === undefined && !flags.quick;
await writeReport({ rows, warm, throughput, cold, curves, fleet, peers, failures }, { out, whole });

/** Runs one part of the measurements. Its errors are reported and do not affect the other parts. */
async function measure(part: string, run: () => Promise<unknown>): Promise<void> {
  if (flags.only !== undefined && !flags.only.split(',').includes(part)) return;
  try {
    await run();
  } catch (thrown) {
    failures.push(`${part}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    say(failures.at(-1)!);
  }
}
