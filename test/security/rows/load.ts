import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { SAMPLES } from '../../../infra/local/self-check/samples.ts';
import { type Jobs, serveJobs } from '../attacks/requests.ts';
import type { Answer, AttackedService, Deployment } from '../deployment/deployment.ts';
import { amount, type Effort, type Row } from '../row.ts';

const CORES = availableParallelism();
/** Maximum number of accepted calls, including waiting ones. */
const CAPACITY = 4 * CORES;
const ROUNDS = 3;
/** Seconds with more callers than are accepted. */
const STORM = 60;

interface Phase {
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
async function press(pressure: {
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
function isShed({ status, code, retryAfter }: Answer): boolean {
  return status === 503 && code === 'OVERLOADED' && Number(retryAfter) > 0;
}

/** Executions reserved for each function. */
const RESERVED = 2;

/** Milliseconds until the reserved executions must have requested their sources: a cold start on a busy machine. */
const BUSY_TIME = 60_000;

/**
 * Lambda has no queue: a tool accepts as many calls as are reserved for it and rejects the others. The router retries those
 * for a few seconds, so a fast tool processes all of them. A call must only be shed while every execution is busy for
 * longer.
 */
export const emulatorLoad: Row = {
  ...load,
  title: 'load beyond the reserved concurrency',
  figures: 'untyped errors / calls shed',
  target: '10 minutes, 0 / some',
  async run(effort) {
    const { canary, deployment } = effort;
    const seconds = amount(effort, 90, { all: 600 }) / SAMPLES.length;
    const jobs = await serveJobs(deployment);
    const silent = await serveNothing(deployment);
    const failures: string[] = [];
    let [answered, shed] = [0, 0];
    const rates: string[] = [];
    // With the usual 30 s, a cold start on a busy machine can end a call with 504 `TIMED_OUT`, which says
    // nothing about load.
    const limits = { size: RESERVED, queue: 0, conversionTime: 120_000 };
    const settings = { canary, sources: [jobs.port, silent.port], ...limits };
    await deployment.withService(settings, async (service) => {
      for (const [place, { tool }] of SAMPLES.entries()) {
        const choose = (index: number) => index * SAMPLES.length + place;
        const run = (callers: number, time: number) =>
          press({ service, jobs, callers, seconds: time, failures, effort, choose });
        const calm = await run(RESERVED, seconds);
        const storm = await run(3 * RESERVED, amount(effort, 30, { all: 60 }) / SAMPLES.length);
        if (calm.shed > 0) failures.push(`${tool}: ${calm.shed} calls shed unnecessarily`);
        const refused = await askWhileBusy(service, jobs.query(choose(1_000_000)), silent);
        if (!refused) failures.push(`${tool}: nothing was shed`);
        answered += calm.answered + storm.answered + 1;
        shed += storm.shed + Number(refused);
        // Routers and tools share the same cores here, so this figure is only informative.
        rates.push(`${tool} ${calm.goodput.toFixed(1)}/s, then ${storm.goodput.toFixed(1)}/s`);
      }
    });
    jobs.close();
    silent.close();
    const untyped = failures.filter((failure) => failure.startsWith('untyped')).length;
    return { figure: `${answered} calls, ${untyped} / ${shed}`, failures, notes: rates };
  },
};

type Silent = Awaited<ReturnType<typeof serveNothing>>;

/** Whether a call is shed while each reserved execution waits for its source. */
async function askWhileBusy(
  service: AttackedService,
  job: ReturnType<Jobs['query']>,
  silent: Silent,
): Promise<boolean> {
  const busy = Promise.all(
    Array.from({ length: RESERVED }, (_, index) =>
      service.ask({
        ...job,
        infile: `${silent.origin}/${job.app}/${index}`,
        outfile: `${index}-${job.outfile}`,
      }),
    ),
  );
  try {
    await silent.asked(job.app!);
    return isShed(await service.ask(job));
  } finally {
    silent.release();
    await busy;
    silent.hold();
  }
}

/** A server of sources that does not respond until it is released. */
async function serveNothing(deployment: Deployment) {
  const waiting = new Map<string, ServerResponse[]>();
  let released = false;
  const server = createServer(({ url = '/' }, response) => {
    if (released) return response.writeHead(404).end();
    waiting.set(url, [...(waiting.get(url) ?? []), response]);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: deployment.originOf(port),
    /** Resolves when every execution of a tool waits. */
    async asked(tool: string): Promise<void> {
      const end = Date.now() + BUSY_TIME;
      while ([...waiting.keys()].filter((url) => url.startsWith(`/${tool}/`)).length < RESERVED) {
        if (Date.now() > end) throw new Error(`${tool} did not ask for its sources.`);
        await setTimeout(50);
      }
    },
    hold: () => {
      released = false;
      waiting.clear();
    },
    release: () => {
      released = true;
      for (const response of [...waiting.values()].flat()) response.writeHead(404).end();
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
