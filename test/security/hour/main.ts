// Attacks one service with everything that the other rows try, in random order, beside a second account that uses it all the time.
// Prints what that account noticed and what every kind of process held before and after, and draws both over time:
//
//   node test/security/hour/main.ts [--minutes 60] [--callers 6] [--seed 29] [--plot hour.png]
import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { ERRORS } from '../../../functions/shared/errors.ts';
import { randomNumbers } from '../../helpers/random.ts';
import { readArguments, readInteger } from '../../report/arguments.ts';
import { showProgress } from '../../report/progress.ts';
import { recordPart } from '../../run/results.ts';
import { heartbeatFailures, MAX_DELAY } from '../neighbor/heartbeat.ts';
import { type SharedService, withSharedService } from '../neighbor/service.ts';
import { serveAttacks } from './attacks.ts';
import { type Census, takeCensus, total } from './census.ts';
import { plot } from './plot.ts';

const { values, fail } = readArguments(
  'node test/security/hour/main.ts [--minutes N] [--callers N] [--seed N] [--plot FILE.png]',
  {
    minutes: { type: 'string', default: '60' },
    callers: { type: 'string', default: '6' },
    seed: { type: 'string', default: '29' },
    plot: { type: 'string' },
  },
);
/** Milliseconds between two counts. */
const INTERVAL = 5000;
/** Kinds of attack that are listed with the delays beside them. */
const LISTED = 10;
/** Seconds after the last attack until engines have ended or started anew. */
const CALM_TIME = 60;

interface Sample {
  readonly minute: number;
  readonly census: Census;
  /** Milliseconds of the second account's requests. */
  readonly slowest: number;
  readonly median: number;
  /** The most by which one took longer than that of an idle server. */
  readonly delay: number;
  /** Memory of the server, MiB. */
  readonly server: number;
  readonly attacks: readonly string[];
}

const minutes = readInteger(['minutes', values.minutes], { min: 1 }, fail);
const callers = readInteger(['callers', values.callers], { min: 1 }, fail);
const random = randomNumbers(readInteger(['seed', values.seed], { min: 0 }, fail));
const attacks = await serveAttacks();
const failures: string[] = [];
const outcomes = new Map<string, number>();
const ran = new Set<string>();
/** Kinds of attack that are running, and those that have run since the last count. */
const running: string[] = [];
const recent = new Set<string>();
const samples: Sample[] = [];

/** Seconds, because many attacks use all of it. */
const environment = { CONVERSION_TIME: '10' };
await withSharedService({ sources: attacks.ports, environment }, async (service) => {
  await service.heartbeat.reset();
  const before = takeCensus(service.process.pid!);
  const started = Date.now();
  const end = started + 60_000 * minutes;
  const progress = showProgress();
  let done = 0;
  const caller = async () => {
    while (Date.now() < end && service.process.exitCode === null) {
      const attack = attacks.all[Math.floor(random() * attacks.all.length)]!;
      running.push(attack.name);
      recent.add(attack.name);
      const outcome = await attackOnce(service, attack);
      running.splice(running.indexOf(attack.name), 1);
      ran.add(attack.name);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      done += 1;
      progress.show(`${done} attacks, ${Math.round((end - Date.now()) / 60_000)} minutes left`);
    }
  };
  const watching = watch(service, started);
  await Promise.all(Array.from({ length: callers }, caller));
  progress.end();
  failures.push(...(await heartbeatFailures(service.heartbeat, MAX_DELAY)));
  const times = service.heartbeat.times.toSorted((a, b) => a - b);
  await setTimeout(1000 * CALM_TIME);
  watching.stop();
  const after = takeCensus(service.process.pid!);

  const at = (part: number, values = times) =>
    Math.round(values[Math.min(values.length - 1, Math.floor(part * values.length))] ?? 0);
  const delays = service.heartbeat.delays.toSorted((a, b) => a - b);
  const answers = [...outcomes].toSorted(([, one], [, other]) => other - one);
  process.stdout.write(
    [
      `${done} attacks of ${ran.size} of ${attacks.all.length} kinds in ${minutes} minutes.`,
      `Answers: ${answers.map(([code, count]) => `${code} ${count}`).join(', ')}`,
      `Second account: ${times.length} requests, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms, ${service.heartbeat.failures.length} failed`,
      `Longer than on an idle server: p50 ${at(0.5, delays)} ms, p99 ${at(0.99, delays)} ms, most ${at(1, delays)} ms`,
      `Server: at most ${Math.round(service.peakMemory())} MiB, heap ${Math.round(await service.heap())} MiB after garbage collection`,
      '',
      '| processes | number | MiB | descriptors | threads |',
      '| --- | ---: | ---: | ---: | ---: |',
      ...tableOf(before, after),
      '',
      `Longest delays in the ${INTERVAL / 1000} s around an attack, their median:`,
      ...slowestAttacks(),
      '',
    ].join('\n'),
  );
  if (values.plot) await draw(values.plot);
});
await attacks.close();
for (const failure of failures.slice(0, 20)) process.stdout.write(`FAILED: ${failure}\n`);
recordPart({
  passed: failures.length === 0 ? 1 : 0,
  failed: failures.map((reason) => ({ name: 'an hour of attacks', reason })),
  skipped: [],
});
process.exit(failures.length === 0 ? 0 : 1);

async function attackOnce(service: SharedService, attack: (typeof attacks.all)[number]): Promise<string> {
  try {
    const answer = await attack.run(service);
    if (!answer) return 'no conversion';
    const { code, status, body, results } = answer;
    const isTyped =
      results.length > 0 || (code !== undefined && Object.hasOwn(ERRORS, code) && code !== 'INTERNAL');
    if (!isTyped) failures.push(`${attack.name}: ${status} ${body.slice(0, 150)}`);
    return results.length > 0 ? 'a result' : (code ?? `${status}`);
  } catch (thrown) {
    failures.push(`${attack.name}: ${thrown}`);
    return 'no answer';
  }
}

function watch({ process: { pid }, heartbeat }: SharedService, started: number) {
  let seen = 0;
  const timer = setInterval(() => {
    const census = takeCensus(pid!);
    const times = heartbeat.times.slice(seen).toSorted((a, b) => a - b);
    const delay = Math.max(0, ...heartbeat.delays.slice(seen));
    seen = heartbeat.times.length;
    samples.push({
      minute: (Date.now() - started) / 60_000,
      census,
      slowest: times.at(-1) ?? 0,
      median: times[times.length >> 1] ?? 0,
      delay,
      server: census['neighbor/server-main.ts']?.memory ?? 0,
      attacks: [...recent],
    });
    recent.clear();
    for (const name of running) recent.add(name);
  }, INTERVAL);
  return { stop: () => clearInterval(timer) };
}

/** Chance puts every attack beside slow ones now and then, but only those that cause delays have them every time. */
function slowestAttacks(): string[] {
  const medians = [...ran].map((name) => {
    const beside = samples.flatMap(({ attacks, delay }) => (attacks.includes(name) ? [delay] : []));
    return { name, count: beside.length, delay: beside.toSorted((a, b) => a - b)[beside.length >> 1] ?? 0 };
  });
  return medians
    .toSorted((a, b) => b.delay - a.delay)
    .slice(0, LISTED)
    .map(({ name, count, delay }) => `  ${Math.round(delay)} ms, ${count} times: ${name}`);
}

function tableOf(before: Census, after: Census): string[] {
  const kinds = [...new Set([...Object.keys(before), ...Object.keys(after)])].toSorted();
  const row = (name: string, one: Census[string] | undefined, other: Census[string] | undefined) => {
    const cells = (['processes', 'memory', 'descriptors', 'threads'] as const).map(
      (key) => `${Math.round(one?.[key] ?? 0)} → ${Math.round(other?.[key] ?? 0)}`,
    );
    return `| ${[name, ...cells].join(' | ')} |`;
  };
  return [
    ...kinds.map((kind) => row(kind, before[kind], after[kind])),
    row('all', total(before), total(after)),
  ];
}

async function draw(file: string): Promise<void> {
  const times = samples.map(({ minute }) => minute);
  const totals = samples.map(({ census }) => total(census));
  const svg = plot(times, [
    {
      title: 'Second account, ms',
      lines: [
        { name: 'slowest', values: samples.map(({ slowest }) => slowest) },
        { name: 'median', values: samples.map(({ median }) => median) },
      ],
    },
    {
      title: 'Resident MiB',
      lines: [
        { name: 'all processes', values: totals.map(({ memory }) => memory) },
        { name: 'server', values: samples.map(({ server }) => server) },
      ],
    },
    { title: 'Descriptors', lines: [{ name: 'all', values: totals.map(({ descriptors }) => descriptors) }] },
    { title: 'Threads', lines: [{ name: 'all', values: totals.map(({ threads }) => threads) }] },
  ]);
  await sharp(Buffer.from(svg)).png().toFile(file);
}
