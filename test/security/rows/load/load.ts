import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { type Jobs, serveJobs } from '../../attacks/jobs.ts';
import type { Answer, AttackedService } from '../../deployment/deployment.ts';
import { amount, type Effort, type Row } from '../../row.ts';

const CORES = availableParallelism();
/** Maximum number of accepted calls, including waiting ones. */
const CAPACITY = 4 * CORES;
const ROUNDS = 3;
/** Seconds with more callers than are accepted. */
const STORM = 60;

export interface Phase {
  readonly answered: number;
  /** Results a second. */
  readonly goodput: number;
  readonly shed: number;
}

/** Callers without pauses: first as many as the service processes at once, then three times what it accepts. */
export const load: Row = {
  name: 'load',
  title: 'load beyond the capacity',
  figures: 'untyped errors / throughput while shedding',
  target: '10 minutes, 0 / ≥ 90 %',
  async run(effort) {
    const { canary, deployment } = effort;
    const seconds = amount(effort, 90, { all: 600 });
    const jobs = await serveJobs(deployment);
    const failures: string[] = [];
    const settings = { canary, sources: [jobs.port], size: CORES, queue: CAPACITY };
    const [calmRounds, stormRounds]: [Phase[], Phase[]] = [[], []];
    await deployment.withService(settings, async (service) => {
      const run = (callers: number, time: number) =>
        press({ service, jobs, callers, seconds: time, failures, effort });
      // The first calls meet cold engines.
      await run(2 * CORES, Math.min(5, seconds));
      // In alternation, because the speed of a virtual machine changes within minutes.
      for (let round = 0; round < ROUNDS; round += 1) {
        calmRounds.push(await run(2 * CORES, seconds / ROUNDS));
        stormRounds.push(await run(3 * CAPACITY, STORM / ROUNDS));
      }
    });
    jobs.close();

    const [calm, storm] = [together(calmRounds), together(stormRounds)];
    const share = Math.round((100 * storm.goodput) / calm.goodput);
    if (share < 90) failures.push(`throughput fell to ${share} %`);
    if (calm.shed > 0) failures.push(`${calm.shed} calls shed unnecessarily`);
    if (storm.shed === 0) failures.push('nothing was shed');
    const untyped = failures.filter((failure) => failure.startsWith('untyped')).length;
    const rates = `${calm.goodput.toFixed(1)}/s, then ${storm.goodput.toFixed(1)}/s and ${storm.shed} shed`;
    return { figure: `${seconds} s, ${untyped} / ${share} % (${rates})`, failures };
  },
};

function together(phases: readonly Phase[]): Phase {
  const sum = (key: keyof Phase) => phases.reduce((all, phase) => all + phase[key], 0);
  return { answered: sum('answered'), goodput: sum('goodput') / phases.length, shed: sum('shed') };
}

let made = 0;

/** Lets callers send one job after the other for the rest of the time. */
export async function press(pressure: {
  readonly service: AttackedService;
  readonly jobs: Jobs;
  readonly callers: number;
  readonly seconds: number;
  readonly failures: string[];
  readonly effort: Effort;
  /** Index of the next job. */
  readonly choose?: (index: number) => number;
}): Promise<Phase> {
  const { service, jobs, callers, seconds, failures, effort, choose = (index) => index } = pressure;
  const started = Date.now();
  const end = started + 1000 * seconds;
  let [answered, results, shed] = [0, 0, 0];
  const caller = async () => {
    let query = jobs.query(choose(made++));
    while (Date.now() < end) {
      const answer = await service.ask(query);
      answered += 1;
      effort.progress(Math.round((Date.now() - started) / 1000), seconds);
      if (isShed(answer)) {
        shed += 1;
        // Rejected callers retry, sooner than they were told.
        await setTimeout(200);
        continue;
      }
      if (answer.results.length === 1) results += 1;
      else failures.push(unexpected(query.app!, answer, service));
      query = jobs.query(choose(made++));
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return { answered, goodput: (1000 * results) / (Date.now() - started), shed };
}

/** Describes a response that load does not explain, with what the service logged about it. */
function unexpected(
  tool: string,
  { status, body, milliseconds, requestId }: Answer,
  service: AttackedService,
) {
  const lines = requestId === undefined ? [] : (service.logOf?.(requestId) ?? []);
  const log = lines.map((line) => `\n        ${line.slice(0, 1000)}`).join('');
  return `untyped or unexpected: ${tool} ${status} after ${milliseconds} ms: ${body.slice(0, 150)}${log}`;
}

/** Whether a call was rejected because of load, with a time to retry after. */
export function isShed({ status, code, retryAfter }: Answer): boolean {
  return status === 503 && code === 'OVERLOADED' && Number(retryAfter) > 0;
}
