import { existsSync, globSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { inParallel } from '../../../../layers/build/command.ts';
import { descendants } from '../../../helpers/descendants.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { serveJobs } from '../../attacks/jobs.ts';
import { growth, type MemoryUse, measureMemory } from '../../checks/memory.ts';
import type { AttackedService } from '../../deployment/deployment.ts';
import { amount, type Reached, type Row } from '../../row.ts';

/**
 * Shares of all jobs after which the idle service's memory is measured. At the first, all pools are filled and all code is
 * warm.
 */
const MEASURED_AT = [0.2, 0.6, 1];
/** MiB by which the service, and all engines of a tool, may grow between the last two measurements. */
const HEAP = 12;
const ENGINES = 30;

/** Valid and broken jobs of every tool, for long enough to see what they leave behind. */
export const aftermath: Row = {
  name: 'aftermath',
  title: 'what mixed jobs leave behind',
  figures: 'temporary files / zombies / processes / MiB more in the service; in its engines',
  target: '500, 0 / 0 / 0 / flat',
  async run(effort) {
    const { progress, canary, deployment } = effort;
    const count = amount(effort, 200, { all: 500 });
    const jobs = await serveJobs(deployment);
    const broken = await serveHttp((_request, response) => response.end('%PDF-1.7 PK\u0003\u0004 nothing'));
    const usual = process.env.TMPDIR;
    const temporary = await mkdtemp(join(tmpdir(), 'aftermath-'));
    const failures: string[] = [];
    const measured: MemoryUse[] = [];
    let [zombies, done] = [0, 0];
    const ask = async (service: AttackedService, index: number) => {
      const query = jobs.query(index);
      const bad = index % 7 === 6;
      const infile = `${deployment.originOf(broken.port)}/${index}`;
      const answer = await service.ask(bad ? { ...query, infile } : query);
      const fine = bad || answer.results.length === 1;
      if (!fine) failures.push(`job ${index}: ${answer.body.slice(0, 150)}`);
      if (index % 50 === 0 && answer.results[0]) await service.fetchResult(answer.results[0]);
      progress(++done, count);
    };
    // From here on, the folder for temporary files is a new, empty one.
    process.env.TMPDIR = temporary;
    try {
      await deployment.withService({ canary, sources: [jobs.port, broken.port] }, async (service) => {
        for (const share of MEASURED_AT) {
          const batch = Array.from({ length: Math.round(count * share) - done }, (_, index) => done + index);
          await inParallel(batch, 3, (index) => ask(service, index));
          measured.push(await measureMemory(service));
        }
        // Empty directories wait for the next conversion.
        const files = service
          .temporary()
          .flatMap((folder) =>
            globSync(['conversion-*', 'spare-*/*'], { cwd: folder }).map((name) => join(folder, name)),
          );
        // The second account's conversions go on, so only what is there now counts.
        await remaining(() => files.filter((file) => existsSync(file)).length);
        failures.push(...files.filter((file) => existsSync(file)).map((file) => `left behind: ${file}`));
        zombies = await remaining(() => descendants(process.pid).filter(isZombie).length);
      });
    } finally {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
    }
    jobs.close();
    await broken.close();
    const left = await readdir(temporary);
    const orphans = await remaining(() => descendants(process.pid).length);
    await rm(temporary, { recursive: true });

    if (left.length > 0) failures.push(`left behind: ${left.join(', ')}`);
    if (zombies + orphans > 0) failures.push(`${zombies} zombies, ${orphans} processes`);
    const memory = judgeMemory(measured.at(-2)!, measured.at(-1)!);
    failures.push(...memory.failures);
    return {
      figure: `${count}, ${left.length} / ${zombies} / ${orphans} / ${memory.figure}`,
      failures,
      notes: memory.notes ?? [],
    };
  },
};

/**
 * Counts again for half a minute, because a process that has just exited is a zombie until its parent collects it, and a
 * conversion's folder is deleted after the reply.
 */
async function remaining(count: () => number): Promise<number> {
  for (let look = 0; look < 300 && count() > 0; look += 1) await setTimeout(100);
  return count();
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}

/** Leaks grow with every job. Memory that is kept is already there at the second to last measurement. */
function judgeMemory(before: MemoryUse, after: MemoryUse): Omit<Reached, 'skipped'> {
  const heap = after.heap - before.heap;
  const tools = [...growth(before, after)];
  const grown = tools.reduce((sum, [, engines]) => sum + engines.grown, 0);
  const residents = tools.reduce((sum, [, engines]) => sum + engines.residents, 0);
  const notes = tools.map(([tool, engines]) => {
    return `${tool}: ${engines.grown.toFixed(1)} MiB in ${engines.residents} processes that were there all the time`;
  });
  const failures = tools.flatMap(([tool, engines]) =>
    engines.grown > ENGINES ? [`engines of ${tool} grew by ${engines.grown.toFixed(1)} MiB`] : [],
  );
  if (heap > HEAP) failures.push(`the service grew by ${heap.toFixed(1)} MiB`);
  if (tools.length < 5) failures.push('not every tool has an engine that ran the whole time');
  return { figure: `${heap.toFixed(1)}; ${grown.toFixed(1)} in ${residents}`, failures, notes };
}
