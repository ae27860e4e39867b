// Converts every file of a folder with the service over HTTP.
import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { openService } from '../lab/service.ts';
import { serveFolder } from '../lab/sources.ts';
import { readArguments, readInteger, showProgress } from '../run/report.ts';
import { recordPart } from '../run/results.ts';
import { startCompleteOffice } from '../soffice/convert.ts';
import { casesOf, countCases, listFiles, readManifest } from './files.ts';
import { createSummary, openLedger } from './ledger.ts';
import { convertedElsewhere, convertFile, judge } from './result.ts';

/** Timeout of a conversion in milliseconds, and the additional time after which it counts as a hang. */
const DEADLINE = 120_000;
const SLACK = 20_000;

const { values, positionals, fail } = readArguments(
  'npm run corpus -- DIR [--jobs 1-64] [--ledger FILE] [--fresh] [--against soffice]',
  {
    jobs: { type: 'string', default: String(availableParallelism()) },
    ledger: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
);
const jobs = readInteger(['jobs', values.jobs], { min: 1, max: 64 }, fail);
if (positionals.length !== 1 || !existsSync(positionals[0]!)) fail('Name one folder.');
if (values.against !== undefined && values.against !== 'soffice') fail("--against is 'soffice'.");

const folder = resolve(positionals[0]!);
const name = createHash('sha256').update(folder).digest('hex').slice(0, 12);
const ledgerFile = resolve(values.ledger ?? join(import.meta.dirname, `../../dist/corpus/${name}.jsonl`));
const logFile = `${ledgerFile}.log`;
mkdirSync(dirname(logFile), { recursive: true });
writeFileSync(logFile, '');

const manifest = await readManifest(folder);
const ledger = openLedger(ledgerFile, { fresh: values.fresh });
const summary = createSummary();
const total = await countCases(folder);
const started = Date.now();
const progress = showProgress();
const sources = await serveFolder(folder);
const { base, apiKey, close } = await openService({
  sources: [sources.host],
  settings: { CONCURRENCY: String(jobs), CONVERSION_TIME: String(DEADLINE / 1000) },
  log: (text) => appendFileSync(logFile, text),
});

const office = values.against === undefined ? undefined : await startCompleteOffice();
const files = listFiles(folder);
await Promise.all(Array.from({ length: jobs }, work));
progress.end();
sources.close();
await office?.close();
const orphans = await close();
ledger.finish();

process.stdout.write(`${summary}${orphans.map((command) => `ORPHAN ${command}\n`).join('')}`);
recordPart({
  passed: summary.count() - summary.misses.length,
  failed: [
    ...summary.misses.map(({ app, name, miss }) => ({ name: `${app} ${name}`, reason: miss })),
    ...orphans.map((command) => ({ name: command, reason: 'still runs after the service has ended' })),
  ],
  skipped: [],
});
if (summary.misses.length > 0) process.stdout.write(`The service's log: ${logFile}\n`);
process.exit(summary.misses.length + orphans.length === 0 ? 0 : 1);

async function work(): Promise<void> {
  // One generator for all workers. Each worker takes the next file.
  for (;;) {
    const { value: file, done } = await files.next();
    if (done) return;
    for (const which of casesOf(file.name)) {
      const { app } = which;
      let row = ledger.done(file.name, file.version, app);
      if (!row) {
        const address = sources.urlOf(file.name);
        const asked = { base, apiKey, address, timeout: DEADLINE + SLACK };
        const { outcome, milliseconds } = await convertFile(file, which, asked);
        const miss = judge(outcome, manifest.get(file.name) ?? 'unknown', {
          milliseconds,
          deadline: DEADLINE,
        });
        const elsewhere =
          office && app === 'doc2any' ? await convertedElsewhere(office, file.path, outcome) : undefined;
        const why = elsewhere ?? miss;
        row = {
          name: file.name,
          version: file.version,
          app,
          outcome,
          milliseconds,
          ...(why && { miss: why }),
        };
        ledger.add(row);
      }
      summary.add(row);
      progress.show(progressOf(summary.count(), summary.misses.length));
    }
  }
}

function progressOf(done: number, misses: number): string {
  const seconds = (Date.now() - started) / 1000;
  const left = (seconds / done) * (total - done);
  return `${done}/${total}, ${misses} missed, ${seconds.toFixed()} s, ${left.toFixed()} s left`;
}
