// Converts files: `docmill --help`. Uses the engines on this machine or, with --url, a service.
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { printable } from '../../functions/shared/quote.ts';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import * as tools from '../../functions/tools.ts';
import { type Command, readCommand, UsageError } from './command.ts';
import { type Failure, remoteService, type Service } from './converter.ts';
import { describeOptions } from './help.ts';
import { findInputs } from './inputs.ts';
import { directoryOf, type Job, planJobs, STANDARD_OUTPUT } from './jobs.ts';
import { openLedger } from './ledger.ts';
import { showProgress } from './progress.ts';
import { runJobs } from './run.ts';

const ALL = Object.values(tools);
const stopped = new AbortController();
// A second signal ends the process immediately.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());

try {
  const [first, word] = process.argv.slice(2);
  const isQuestion = first === '--help' && word !== undefined;
  const command = readCommand(isQuestion ? ['--help'] : process.argv.slice(2), ALL);
  if (isQuestion) process.stdout.write(describeOptions(word, ALL));
  else if (command.help) process.stdout.write(readFileSync(join(import.meta.dirname, 'help.txt')));
  else process.exitCode = await run(command, stopped.signal);
} catch (thrown) {
  process.stderr.write(`${printable((thrown as Error).message)}\n`);
  if (thrown instanceof UsageError) process.stderr.write(`Run 'docmill --help' for usage.\n`);
  process.exitCode = thrown instanceof UsageError ? 2 : 1;
}

async function run(command: Command, signal: AbortSignal): Promise<number> {
  const ledger = openLedger(directoryOf(command), command);
  const inputs = (await findInputs(command.inputs, command.list)).filter(({ id }) => !ledger.isResult(id));
  const planned = await planJobs(command, inputs, ALL);
  if (!command.overwrite) ledger.check(planned);
  const jobs = planned.filter((job) => !ledger.isDone(job));
  const skipped = planned.length - jobs.length;
  const progress = showProgress(jobs.length, { started: startedAt() });
  let failure: unknown;
  if (jobs.length > 0) {
    if (command.url === undefined) progress.starting('Starting the engines …');
    const service = await open(command, jobs);
    const watch = {
      converted: progress.converted,
      warned: ({ input }: Job, warning: string) => progress.tell(`${input.name}: ${warning}`),
      failed: ({ input, query }: Job, { code, message, place }: Failure) => {
        const found = query.filter(({ name }) => name === place.parameter)[place.index ?? Number.NaN];
        progress.failed(`${found?.input?.name ?? found?.value ?? input.name}: ${code} ${message}`);
      },
    };
    try {
      await runJobs(jobs, { service, ledger, watch, size: command.jobs }, signal);
    } catch (thrown) {
      failure = thrown;
    } finally {
      await service.close();
    }
  }
  const { converted, failed, time } = progress.end();
  const counts = [
    `${converted} converted`,
    `${failed} failed`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ];
  // Standard output may be the result.
  const summary = command.to === STANDARD_OUTPUT ? process.stderr : process.stdout;
  const ending = signal.aborted ? 'Interrupted: ' : '';
  summary.write(`${ending}${counts.join(', ')} in ${time}\n`);
  if (signal.aborted && directoryOf(command) !== undefined)
    process.stderr.write('Run the command again to convert the rest.\n');
  if (signal.aborted) return 130;
  if (failure !== undefined) throw failure;
  return failed > 0 ? 1 : 0;
}

/** Returns when the command began, on the clock of `performance.now()`. Another process may have prepared this one. */
function startedAt(): number {
  const began = Number(textSetting('DOCMILL_BEGAN', undefined) ?? performance.timeOrigin);
  return began - performance.timeOrigin;
}

async function open({ url, key, jobs: size }: Command, jobs: readonly Job[]): Promise<Service> {
  if (url !== undefined) return remoteService(url, key ?? textSetting('API_KEY', undefined));
  const tools = [...new Set(jobs.map(({ query }) => query[0]!.value))];
  const downloads = jobs.some(({ input }) => !input.open);
  const { localEngines } = await import('./engines.ts');
  return localEngines(tmpdir(), size, { tools, downloads });
}
