import { setTimeout } from 'node:timers/promises';
import { inParallel } from '../../../../layers/build/command.ts';
import { serveJobs } from '../../attacks/jobs.ts';
import type { AttackedService } from '../../deployment/deployment.ts';
import { amount, type Row } from '../../row.ts';

/**
 * Delays in milliseconds from a call to the kill of one of the processes below the service. The first kill is before
 * the call.
 */
const POINTS = [-1, 0, 5, 10, 20, 40, 60, 90, 130, 200];

/** Whichever process is killed, the call gets a response, and the next job of that tool succeeds. */
export const kills: Row = {
  name: 'kills',
  title: 'engines killed at 10 points in time',
  figures: 'untyped responses / next job failed',
  target: '10 × 20, 0 / 0',
  async run(effort) {
    const { progress, canary, deployment } = effort;
    const rounds = amount(effort, 6, { short: 0.5, all: 20 });
    const jobs = await serveJobs(deployment);
    const spoilt: string[] = [];
    const untyped: string[] = [];
    let results = 0;
    let done = 0;
    await deployment.withService({ canary, sources: [jobs.port] }, async (service) => {
      const plan = Array.from({ length: rounds * POINTS.length }, (_, index) => index);
      await inParallel(plan, 1, async (index) => {
        const point = POINTS[index % POINTS.length]!;
        // Every tool is tested at every point in time.
        const job = index + Math.floor(index / POINTS.length);
        const answer = await killAt(service, point, index, jobs.query(job));
        if (answer.results.length > 0) results += 1;
        else if (answer.code === undefined || answer.code === 'INTERNAL')
          untyped.push(`${index}, at ${point} ms: ${answer.status} ${answer.body.slice(0, 150)}`);

        const next = await service.ask({
          ...jobs.query(job),
          outfile: `next-${index}-${jobs.query(job).outfile}`,
        });
        if (next.results.length !== 1) spoilt.push(`${index}, after ${point} ms: ${next.body.slice(0, 150)}`);
        progress(++done, plan.length);
      });
    });
    jobs.close();
    return {
      figure: `${POINTS.length} × ${rounds} (${results} results), ${untyped.length} / ${spoilt.length}`,
      failures: [...untyped, ...spoilt],
    };
  },
};

async function killAt(
  service: AttackedService,
  point: number,
  index: number,
  query: Readonly<Record<string, string>>,
) {
  if (point < 0) killOne(service, index);
  const asked = service.ask(query);
  if (point >= 0) {
    await setTimeout(point);
    killOne(service, index);
  }
  return asked;
}

/** Kills one of its processes, a different one each time. */
function killOne(service: AttackedService, index: number): void {
  const processes = service.engines();
  const victim = processes[(index * 7919) % processes.length];
  try {
    if (victim !== undefined) process.kill(victim, 'SIGKILL');
  } catch {
    // It has just exited.
  }
}
