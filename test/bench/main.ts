// Compares the service with the programs that users would otherwise run.
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { serveSources } from '../lab/sources.ts';
import { chooseNames, readArguments } from '../run/report.ts';
import { compareCommits } from './against.ts';
import { measureCold } from './cold.ts';
import { prepareInputs } from './inputs.ts';
import {
  measureAccounts,
  measureBusy,
  measureCurves,
  measureFairness,
  measureGrowth,
  measureProcessor,
  measureShare,
} from './load.ts';
import { findPeers } from './peers.ts';
import { writeReport, writeTable } from './report.ts';
import type { Bench, Row } from './row.ts';
import { startBenchedService } from './service.ts';
import {
  measureCommand,
  measureImage,
  measureLarge,
  measureOffice,
  measurePdf,
  measureThumbnails,
  measureTogether,
  measureWeb,
} from './tools.ts';

/** Every part yields rows; `--only` chooses among them. */
const PARTS: Readonly<Record<string, (bench: Bench) => Promise<Row[]>>> = {
  pdf: measurePdf,
  office: measureOffice,
  together: measureTogether,
  large: measureLarge,
  web: measureWeb,
  image: measureImage,
  thumbnails: measureThumbnails,
  share: measureShare,
  processor: measureProcessor,
  busy: measureBusy,
  accounts: measureAccounts,
  fairness: measureFairness,
  command: measureCommand,
  cold: measureCold,
  curve: measureCurves,
  growth: measureGrowth,
};

const {
  values: flags,
  positionals,
  fail,
} = readArguments(
  'npm run bench -- [--quick | --long] [--only=part,…] [--row=TEXT] [--write] [--against=COMMIT] [DIR]',
  {
    quick: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
    only: { type: 'string' },
    row: { type: 'string', default: '' },
    against: { type: 'string' },
  },
);
const usual = Object.keys(PARTS).filter((part) => part !== 'growth' || flags.long);
const chosen =
  flags.only === undefined ? usual : chooseNames(Object.keys(PARTS), flags.only.split(','), fail);
const isPart = flags.only !== undefined || flags.row !== '';
const say = (text: string) => process.stderr.write(`${text}\n`);
const root = join(import.meta.dirname, '../..');
const out = join(root, 'dist/bench');
await mkdir(out, { recursive: true });

const peers = await findPeers(process.env.PATH ?? '');
if (peers.missing.length > 0) say(`Not installed, so not compared with: ${peers.missing.join(', ')}`);
const inputs = await prepareInputs(join(out, 'inputs'), {
  given: positionals[0],
  fonts: join(root, 'dist/layers/fonts'),
  peers,
});
if (flags.against !== undefined) {
  await compareCommits(flags.against, { inputs, out, row: flags.row, say });
  process.exit();
}
// From memory after the first time. Browsers must not cache them.
const files = new Map<string, Buffer>();
const sources = await serveSources(
  async (path) => {
    const bytes = files.get(path) ?? (await readFile(join(inputs.folder, path)));
    files.set(path, bytes);
    return bytes;
  },
  { 'cache-control': 'no-store' },
);
const directory = await mkdtemp(join(out, 'work-'));
const rows: Row[] = [];
const failures: string[] = [];
for (const part of chosen) {
  const started = performance.now();
  // A fresh service for each part, so that leftovers of one part do not slow down the next.
  const service = await startBenchedService(sources.host);
  const bench: Bench = {
    service,
    peers,
    inputs,
    directory,
    say,
    urlOf: (path) => sources.urlOf(relative(inputs.folder, path)),
    quick: flags.quick,
    wants: (work) => work.toLowerCase().includes(flags.row.toLowerCase()),
  };
  try {
    const measured = await PARTS[part]!(bench);
    rows.push(...measured);
    if (measured.length > 0) say(`${writeTable(measured)}\n`);
  } catch (thrown) {
    failures.push(`${part}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    say(failures.at(-1)!);
  } finally {
    await service.close();
  }
  say(`${part}: ${((performance.now() - started) / 1000).toFixed(0)} s\n`);
  await writeReport({ rows, peers, failures }, { out, write: flags.write, isPart });
}
sources.close();
await rm(directory, { recursive: true, force: true });
console.log(writeTable(rows));
for (const failure of failures) console.log(`Not measured: ${failure}`);
process.exitCode = failures.length > 0 ? 1 : 0;
