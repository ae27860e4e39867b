import { SAMPLES } from '../../../infra/local/self-check/samples.ts';
import { serveJobs } from '../jobs.ts';
import type { Row } from '../row.ts';
import { load, press } from './load.ts';

/** Executions reserved for each function. */
const RESERVED = 2;

/** Lambda has no queue: a tool takes as many as are reserved for it and refuses the others. */
export const shapeLoad: Row = {
  ...load,
  title: `load on each tool of the ${RESERVED} conversions that are reserved, then of 3 × as many: untyped errors / shed`,
  target: '10 minutes, 0 / some',
  async run(effort) {
    const { canary, times, deployment } = effort;
    const seconds = times(600, 10) / SAMPLES.length;
    const jobs = await serveJobs(deployment);
    const failures: string[] = [];
    let [answered, shed] = [0, 0];
    const rates: string[] = [];
    const settings = { canary, sources: [jobs.port], size: RESERVED, queue: 0 };
    await deployment.withFort(settings, async (fort) => {
      for (const [place, { tool }] of SAMPLES.entries()) {
        const choose = (index: number) => index * SAMPLES.length + place;
        const run = (callers: number, time: number) =>
          press({ fort, jobs, callers, seconds: time, failures, effort, choose });
        const calm = await run(RESERVED, seconds);
        const storm = await run(3 * RESERVED, times(60, 15) / SAMPLES.length);
        if (calm.shed > 0) failures.push(`${tool}: ${calm.shed} calls shed without need`);
        if (storm.shed === 0) failures.push(`${tool}: nothing was shed`);
        answered += calm.answered + storm.answered;
        shed += storm.shed;
        // Routers take turns with tools on the same two cores here, so this is for reading.
        rates.push(`${tool} ${calm.goodput.toFixed(1)}/s, then ${storm.goodput.toFixed(1)}/s`);
      }
    });
    jobs.close();
    const untyped = failures.filter((failure) => failure.startsWith('untyped')).length;
    return { figure: `${answered} calls, ${untyped} / ${shed}`, failures, notes: rates };
  },
};
