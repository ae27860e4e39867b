// Attacks one service with everything that the other rows try, in random order, beside a second account that uses it all the time.
// Prints what that account noticed, and what every kind of process held before and after:
//
//   node test/security/hour/main.ts [--minutes 60] [--callers 6] [--seed 29] [--plot FILE.svg]
import { writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { ERRORS } from '../../../functions/shared/errors.ts';
import { randomNumbers } from '../../helpers/random.ts';
import { readArguments, readInteger } from '../../report/arguments.ts';
import { showProgress } from '../../report/progress.ts';
import { recordPart } from '../../run/results.ts';
import { delayOf } from '../neighbor/heartbeat.ts';
import { type SharedService, withSharedService } from '../neighbor/service.ts';
import { judgeBeats } from '../neighbor/verdict.ts';
import { type Attack, serveAttacks } from './attacks.ts';
import { compareCensuses, takeCensus, totalOf } from './census.ts';
import { percentile, plot, type Sample } from './plot.ts';

const { values, fail } = readArguments(
  'node test/security/hour/main.ts [--minutes N] [--callers N] [--seed N] [--plot FILE.svg]',
  {
    minutes: { type: 'string', default: '60' },
    callers: { type: 'string', default: '6' },
    seed: { type: 'string', default: '29' },
    plot: { type: 'string' },
  },
);
/** Kinds of attack that are listed with the delays beside them. */
const LISTED = 10;
/** Seconds after the last attack until engines have ended or started anew. */
const CALM_TIME = 60;
/** Milliseconds between two samples of the plot. */
const SAMPLE_INTERVAL = 5000;

const minutes = readInteger(['minutes', values.minutes], { min: 1 }, fail);
const callers = readInteger(['callers', values.callers], { min: 1 }, fail);
const random = randomNumbers(readInteger(['seed', values.seed], { min: 0 }, fail));
const attacks = await serveAttacks();
const failures: string[] = [];
const outcomes = new Map<string, number>();
/** The longest delay of the second account beside each attack. */
const delays = new Map<string, number[]>();

/** Seconds, because many attacks use all of it. */
const environment = { CONVERSION_TIME: '10' };
await withSharedService({ sources: attacks.ports, environment }, async (service) => {
  await service.heartbeat.reset();
  const before = takeCensus(service.process.pid!);
  const samples: Sample[] = [];
  let sampled = 0;
  const started = Date.now();
  const sampling = setInterval(() => {
    const beats = service.heartbeat.beats.slice(sampled);
    sampled += beats.length;
    const [, memory, descriptors] = totalOf(takeCensus(service.process.pid!));
    samples.push({
      seconds: (Date.now() - started) / 1000,
      requests: beats.map(({ milliseconds }) => milliseconds),
      failures: beats.filter(({ code }) => code !== 'SOURCE_STATUS').length,
      memory,
      descriptors,
    });
  }, SAMPLE_INTERVAL);
  const end = Date.now() + 60_000 * minutes;
  const progress = showProgress();
  let done = 0;
  const caller = async () => {
    while (Date.now() < end && service.process.exitCode === null) {
      const attack = attacks.all[Math.floor(random() * attacks.all.length)]!;
      await attackOnce(service, attack);
      done += 1;
      progress.show(`${done} attacks, ${Math.round((end - Date.now()) / 60_000)} minutes left`);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  progress.end();
  const { figure, failures: noticed } = judgeBeats(service.heartbeat.beats);
  const requests = service.heartbeat.beats.map(({ milliseconds }) => milliseconds);
  failures.push(...noticed);
  await pause(1000 * CALM_TIME);
  clearInterval(sampling);
  if (values.plot) writeFileSync(values.plot, plot(samples));
  const after = takeCensus(service.process.pid!);

  const answers = [...outcomes].toSorted(([, one], [, other]) => other - one);
  process.stdout.write(
    [
      `${done} attacks of ${delays.size} of ${attacks.all.length} kinds in ${minutes} minutes.`,
      `Answers: ${answers.map(([code, count]) => `${code} ${count}`).join(', ')}`,
      `Second account: ${figure}`,
      `Its requests: p50 ${Math.round(percentile(requests, 0.5))} ms, p99 ${Math.round(percentile(requests, 0.99))} ms, worst ${Math.round(Math.max(0, ...requests))} ms`,
      `Server: at most ${Math.round(service.peakMemory())} MiB, heap ${Math.round(await service.heap())} MiB after garbage collection`,
      '',
      compareCensuses(before, after),
      '',
      'Longest delays of the second account beside an attack, their median:',
      ...slowestAttacks(),
      '',
    ].join('\n'),
  );
});
await attacks.close();
for (const failure of failures.slice(0, 20)) process.stdout.write(`FAILED: ${failure}\n`);
recordPart({
  passed: failures.length === 0 ? 1 : 0,
  failed: failures.map((reason) => ({ name: 'an hour of attacks', reason })),
  skipped: [],
});
process.exit(failures.length === 0 ? 0 : 1);

async function attackOnce(service: SharedService, attack: Attack): Promise<void> {
  const { length } = service.heartbeat.beats;
  const outcome = await attack.run(service).then(
    (answer) => {
      if (!answer) return 'no conversion';
      const { code, status, body, results } = answer;
      if (results.length > 0) return 'a result';
      if (code === undefined || !Object.hasOwn(ERRORS, code) || code === 'INTERNAL')
        failures.push(`${attack.name}: ${status} ${body.slice(0, 150)}`);
      return code ?? `${status}`;
    },
    (thrown: unknown) => {
      failures.push(`${attack.name}: ${thrown}`);
      return 'no answer';
    },
  );
  outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  const beside = Math.max(0, ...service.heartbeat.beats.slice(length).map(delayOf));
  delays.set(attack.name, [...(delays.get(attack.name) ?? []), beside]);
}

/** Chance puts every attack beside slow ones now and then, but only those that cause delays have them every time. */
function slowestAttacks(): string[] {
  const medians = [...delays].map(([name, all]) => {
    return { name, count: all.length, delay: all.toSorted((a, b) => a - b)[all.length >> 1]! };
  });
  return medians
    .toSorted((a, b) => b.delay - a.delay)
    .slice(0, LISTED)
    .map(({ name, count, delay }) => `  ${Math.round(delay)} ms, ${count} times: ${name}`);
}
