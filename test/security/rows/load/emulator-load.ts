import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { SAMPLES } from '../../../../infra/local/self-check/samples.ts';
import { type Jobs, serveJobs } from '../../attacks/jobs.ts';
import type { AttackedService, Deployment } from '../../deployment/deployment.ts';
import { amount, type Row } from '../../row.ts';
import { isShed, load, press } from './load.ts';

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
