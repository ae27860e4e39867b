import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { serveHttp } from '../../functions/shared/fault-server.ts';
import { descendants, totalMemory } from '../canary.ts';
import { serveJobs } from '../jobs.ts';
import { inParallel, type Row } from '../row.ts';
import { withService } from '../service.ts';

/** MiB that the service and its engines may have grown by between half of the jobs and all of them; CI's few fill no pool. */
const GROWTH = 600;

/** Good and broken jobs of every tool, for as long as it takes to see what they leave behind. */
export const aftermath: Row = {
  name: 'aftermath',
  title: 'mixed jobs, then: temporary files left / zombies / processes left / MiB grown',
  target: '500, 0 / 0 / 0 / flat',
  async run({ times, progress, canary }) {
    const count = times(500, 60);
    const jobs = await serveJobs();
    const broken = await serveHttp((_request, response) => response.end('%PDF-1.7 PK\u0003\u0004 nothing'));
    const usual = process.env.TMPDIR;
    const temporary = await mkdtemp(join(tmpdir(), 'aftermath-'));
    const failures: string[] = [];
    let [zombies, early, late, done] = [0, 0, 0, 0];
    // Whatever asks for the folder of temporary files from here on gets an empty one of its own.
    process.env.TMPDIR = temporary;
    try {
      await withService({ canary, allowSources: [jobs.host, `127.0.0.1:${broken.port}`] }, async (fort) => {
        await inParallel([...Array(count).keys()], 3, async (index) => {
          const query = jobs.query(index);
          const bad = index % 7 === 6;
          const answer = await fort.ask(bad ? { ...query, infile: `${broken.origin}/${index}` } : query);
          const fine = bad || answer.results.length === 1;
          if (!fine) failures.push(`job ${index}: ${answer.body.slice(0, 150)}`);
          if (index % 50 === 0 && answer.results[0]) await fort.fetchResult(answer.results[0]);
          done += 1;
          if (done === Math.ceil(count / 2)) early = totalMemory(process.pid);
          progress(done, count);
        });
        late = totalMemory(process.pid);
        zombies = await remaining(() => descendants(process.pid).filter(isZombie).length);
      });
    } finally {
      if (usual === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = usual;
    }
    jobs.close();
    await broken.close();
    const left = await readdir(temporary);
    const stray = descendants(process.pid).length;
    await rm(temporary, { recursive: true });

    const grown = Math.round(late - early);
    if (left.length > 0) failures.push(`left behind: ${left.join(', ')}`);
    if (zombies + stray > 0) failures.push(`${zombies} zombies, ${stray} processes`);
    if (grown > times(GROWTH, 4 * GROWTH)) failures.push(`grown by ${grown} MiB`);
    return { figure: `${count}, ${left.length} / ${zombies} / ${stray} / ${grown}`, failures };
  },
};

/** Counts again for five seconds: a process that has just ended is a zombie until its parent looks. */
async function remaining(count: () => number): Promise<number> {
  for (let look = 0; look < 50 && count() > 0; look += 1) await setTimeout(100);
  return count();
}

function isZombie(pid: number): boolean {
  try {
    return /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
  } catch {
    return false;
  }
}
