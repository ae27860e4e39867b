import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createApiKey, withKeys } from '../../functions/platform/keys.ts';
import { createLog, describe } from '../../functions/shared/log.ts';
import { Members } from '../../functions/site/accounts/members.ts';
import { lockDataDirectory } from './operation/lock.ts';
import { keepRunning } from './operation/upkeep.ts';
import { SAMPLES, sampleQuery, serveSamples } from './self-check/samples.ts';
import { type CheckRow, selfCheck } from './self-check/self-check.ts';
import { startService } from './server/service.ts';
import { originOf, readSettings } from './settings.ts';
import { openStores } from './stores.ts';

const { values: flags } = orExit(() =>
  parseArgs({ options: { check: { type: 'boolean', default: false } } }),
);
const settings = orExit(readSettings);
// A program that reads the log expects nothing else on standard output.
const isForPeople = flags.check || settings.log.format === 'pretty';
const say = (text = '') => (isForPeople ? process.stdout : process.stderr).write(`${text}\n`);
const writeLog = (line: string) => (flags.check ? process.stderr : process.stdout).write(`${line}\n`);
// In a terminal, log lines must not interrupt the table of the self-check.
const held: string[] = [];
let isStarting = true;
const log = createLog((line) => {
  if (isStarting && isForPeople) held.push(line);
  else writeLog(line);
}, settings.log);

const lock = orExit(() => lockDataDirectory(settings.dataDirectory));
const stores = orExit(() => openStores(settings.dataDirectory));
// A killed server may have left calls in progress, and no other server uses this directory.
await stores.limiter.endLeases();
keepSpace();
const checkKey = createApiKey();
const keys = withKeys(stores.keys, [
  { apiKey: checkKey, name: 'self-check' },
  ...(settings.apiKey === undefined ? [] : [{ apiKey: settings.apiKey, name: 'API_KEY' }]),
]);

const samples = await serveSamples();
const service = await startService(
  { ...settings, allowSources: [...settings.allowSources, samples.host] },
  {
    ...stores,
    keys,
    layers: join(dirname(fileURLToPath(import.meta.url)), '../../dist/layers'),
    samples: samples.host,
    siteStores: stores,
    log,
  },
).catch((thrown: NodeJS.ErrnoException & { port?: number; address?: string }) => {
  if (thrown.syscall !== 'listen' && thrown.syscall !== 'getaddrinfo') throw thrown;
  const name = thrown.port === settings.metricsPort ? 'METRICS_PORT' : 'PORT';
  const message =
    thrown.code === 'EADDRINUSE'
      ? `Port ${thrown.port} of ${thrown.address} is in use. Set ${name} to another one.`
      : `The server cannot listen. Check PORT and HOST. (${thrown.message})`;
  process.stderr.write(`${message}\n`);
  process.exit(1);
});
// Only hashes are stored, so a key can be shown only when it is created, and not before the service runs.
const isFirstStart = settings.apiKey === undefined && (await stores.keys.list()).length === 0;
const made = isFirstStart ? (await stores.keys.create({ name: 'first' })).apiKey : undefined;
keepRunning(log);
const origin = originOf(settings.host, service.port);
let stopping = false;
// A second signal ends the process immediately.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop(0));
// The parent process, which started this one in its own session, has exited.
process.once('disconnect', () => stop(0));

const publicOrigin = settings.publicUrl ?? origin;
const publicly = publicOrigin === origin ? '' : `, and at ${publicOrigin}/api/ once the proxy is running`;
say(`docmill is running at ${origin}/api/${publicly}`);
if (made !== undefined) say(`API key (shown only once): ${made}`);
// A log that others may read must not contain a sign-in link.
if (settings.site && isForPeople && !flags.check) {
  const token = await new Members(stores).inviteOperator();
  say(`Operator page (this link works once, for 15 minutes): ${publicOrigin}/account/sign-in?token=${token}`);
}
say();
say(columns(['tool', 'sample', 'time', 'size', 'result']));
const passed = await selfCheck({ origin, samples: samples.host, apiKey: checkKey }, (row) => {
  if (!stopping) say(columns(cells(row)));
});
say();

if (!flags.check && !stopping) offerCalls();
isStarting = false;
held.forEach(writeLog);
if (flags.check) await stop(passed ? 0 : 1);

/** Runs a step of the startup. If it fails, the process prints only the message and exits. */
function orExit<Value>(step: () => Value): Value {
  try {
    return step();
  } catch (thrown) {
    process.stderr.write(`${(thrown as Error).message}\n`);
    process.exit(1);
  }
}

/** The server must start even if the disk is full, in order to serve the results on it. */
function keepSpace(): void {
  try {
    stores.keepSpace();
  } catch (thrown) {
    log('no space for the database', { cause: describe(thrown) }, 'warn');
  }
}

function offerCalls(): void {
  const apiKey = made ?? '$API_KEY';
  say('Paste one of these into a shell. Each returns the URL of its result:');
  for (const sample of SAMPLES)
    say(`  curl -g "${publicOrigin}/api/?${sampleQuery(sample, undefined, apiKey)}"`);
}

async function stop(code: number): Promise<void> {
  stopping = true;
  const closed = await service.close().then(
    () => true,
    (thrown: Error) => process.stderr.write(`The server did not stop cleanly: ${thrown.message}\n`) && false,
  );
  samples.close();
  stores.close();
  lock.release();
  process.exit(closed ? code : 1);
}

function cells({ tool, sample, milliseconds, bytes, answer }: CheckRow): string[] {
  return [tool, sample, `${milliseconds} ms`, `${Math.ceil(bytes / 1024)} KiB`, answer];
}

function columns([tool, sample, time, size, answer]: readonly string[]): string {
  return [tool!.padEnd(11), sample!.padEnd(12), time!.padStart(8), size!.padStart(9), ` ${answer}`].join(' ');
}
