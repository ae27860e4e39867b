import { spawn } from 'node:child_process';
import { createWriteStream, existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createBrotliCompress } from 'node:zlib';
import { median } from './measure.ts';
import { runProgram } from './peers.ts';
import { type Bench, count, inDirectory, type Row } from './row.ts';
import { sampleCalls } from './service.ts';

const ROOT = join(import.meta.dirname, '../..');
const ROUTER = join(ROOT, 'dist/aws/functions/router/index.mjs');
const SCRIPT = join(import.meta.dirname, 'cold-start.ts');

/** Starts every tool in a fresh process with an empty temporary folder, alternating with one that inflates an archive. */
export async function measureCold(bench: Bench): Promise<Row[]> {
  const rows: Row[] = [];
  const rounds = bench.quick ? 1 : 5;
  const uploaded = existsSync(join(ROOT, 'dist/aws/layers/libreoffice'));
  for (const { app, infile } of sampleCalls(bench)) {
    const work = `cold start, ${app}`;
    if (!bench.wants(work)) continue;
    bench.say(work);
    const { host, pathname } = new URL(infile);
    const page = app.startsWith('html');
    const source = page ? infile : join(bench.inputs.folder, decodeURIComponent(pathname));
    const archive = page ? 'none' : await officeArchive(bench);
    const ours: number[] = [];
    const theirs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      ours.push(await fresh(bench, [SCRIPT, 'own', app, source, host]));
      if (page || app === 'doc2any')
        theirs.push(await fresh(bench, [SCRIPT, 'archive', app, source, host, archive]));
    }
    const [own, other] = [median(ours), median(theirs)];
    const note = `${count(rounds, 'start')}${uploaded ? '' : ', layers not compressed as for AWS'}`;
    const base = { work, unit: 'ms', ours: own, note };
    if (theirs.length === 0) rows.push({ ...base, peer: '', value: own });
    else
      rows.push({
        ...base,
        peer: 'brotli archive',
        theirs: other,
        value: own / other,
        target: page ? 0.2 : 0.12,
      });
  }
  const work = 'cold start, router';
  if (existsSync(ROUTER) && bench.wants(work)) {
    const ours = await routerStart(rounds);
    rows.push({ work, unit: 'ms', peer: '', target: 100, ours, value: ours, note: 'Node included' });
  }
  return rows;
}

/** Runs a script in its own process and returns how long that took. */
function fresh(bench: Bench, args: readonly string[]): Promise<number> {
  return inDirectory(bench.directory, async (directory) => {
    // Without the second one, the package does not unpack the libraries that Lambda's base image lacks.
    const environment = { TMPDIR: directory, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
    return (await runProgram(process.execPath, args, environment)).milliseconds;
  });
}

/** The office layer as one brotli archive, created once. */
async function officeArchive({ inputs }: Bench): Promise<string> {
  const archive = join(inputs.folder, '../libreoffice.tar.br');
  if (existsSync(archive)) return archive;
  const tar = spawn('tar', ['-c', '-C', join(ROOT, 'dist/layers'), 'libreoffice']);
  // The compression level hardly affects the time to inflate it.
  const brotli = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 5 } });
  await pipeline(tar.stdout, brotli, createWriteStream(`${archive}.part`));
  await rename(`${archive}.part`, archive);
  return archive;
}

async function routerStart(rounds: number): Promise<number> {
  const stub = 'globalThis.awslambda = { streamifyResponse: (handle) => handle, HttpResponseStream: {} };';
  const script = `${stub} await import(${JSON.stringify(ROUTER)}); process.exit();`;
  const settings = {
    resultsBucket: 'b',
    keyTable: 't',
    toolFunctions: {},
    settings: { contact: {}, defaultLimits: {} },
    conversionLimits: {},
    version: {},
  };
  const environment = { AWS_REGION: 'us-east-1', ENVIRONMENT: JSON.stringify(settings) };
  const times: number[] = [];
  for (let round = 0; round < 2 * rounds + 1; round += 1) {
    const args = ['--input-type=module', '-e', script];
    times.push((await runProgram(process.execPath, args, environment)).milliseconds);
  }
  return median(times);
}
