// Measures the service beside what a user would otherwise run: `npm run bench [-- --quick | --long] [-- DIR]`.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import * as tools from '../../functions/tools.ts';
import { prepareInputs } from './inputs/inputs.ts';
import { findPeers } from './peers.ts';
import { isMet, writeTable } from './report/table.ts';
import { curveRows, measureCurves } from './rows/curve.ts';
import { measureGrowth } from './rows/growth.ts';
import { measureImage } from './rows/image.ts';
import { measureOffice } from './rows/office.ts';
import { measurePdf } from './rows/pdf.ts';
import type { Bench, Row } from './rows/row.ts';
import { measureWarm, shareRows } from './rows/share.ts';
import { measureThroughput, throughputRows } from './rows/throughput.ts';
import { measureWeb } from './rows/web.ts';
import { startOwnService } from './service.ts';
import { serveSources } from './source-server.ts';

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const say = (text: string) => process.stderr.write(`${text}\n`);
const root = fileURLToPath(new URL('../..', import.meta.url));
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
  addressOf: sources.addressOf,
  tools: new Set(Object.values(tools).map(({ name }) => name)),
  quick: flags.quick,
};

const wanted = (part: string) => flags.only === undefined || flags.only.split(',').includes(part);
const rows: Row[] = [];
if (wanted('pdf')) rows.push(...(await measurePdf(bench)));
if (wanted('office')) rows.push(...(await measureOffice(bench)));
if (wanted('web')) rows.push(...(await measureWeb(bench)));
if (wanted('image')) rows.push(...(await measureImage(bench)));
const warm = wanted('share') ? await measureWarm(bench) : [];
rows.push(...shareRows(warm));
const throughput = wanted('throughput') ? await measureThroughput(bench) : [];
rows.push(...throughputRows(throughput));
const curves = wanted('curve') ? await measureCurves(bench) : [];
rows.push(...curveRows(curves));
if (flags.long && wanted('growth')) rows.push(...(await measureGrowth(bench)));

await service.close();
sources.close();
await rm(directory, { recursive: true, force: true });
const report = {
  machine: {
    cores: availableParallelism(),
    processor: cpus()[0]?.model,
    load: loadavg()[0],
    node: process.version,
  },
  peers: peers.versions,
  missing: peers.missing,
  rows: rows.map((row) => ({ ...row, met: isMet(row) })),
  warm,
  throughput,
  curves,
};
await writeFile(join(out, 'bench.json'), `${JSON.stringify(report, null, 1)}\n`);
process.stdout.write(`\n${writeTable(rows)}\n`);
