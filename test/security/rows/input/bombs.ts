import { readStat } from '../../../../functions/engines/worker/linux/proc.ts';
import { DOCUMENT_BOMBS } from '../../../fixtures/bombs/documents.ts';
import { IMAGE_BOMBS } from '../../../fixtures/bombs/images.ts';
import { PDF_BOMBS } from '../../../fixtures/bombs/pdfs.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import type { AttackedService } from '../../deployment/deployment.ts';
import { amount, type Row } from '../../row.ts';

/** Maximum milliseconds for sources that are rejected by their first bytes. An idle machine needs far less. */
const QUICK = 1500;
/** MiB by which all engines together may grow: twice the growth that was observed. */
const GROWTH = 1400;

const BOMBS = [...IMAGE_BOMBS, ...PDF_BOMBS, ...DOCUMENT_BOMBS];

/** Each bomb alone, against warm engines whose memory is monitored. */
export const bombs: Row = {
  name: 'bombs',
  title: 'pixel, page and archive bombs',
  figures: 'rejected quickly / untyped responses / maximum MiB',
  target: '≥ 25, most / 0 / bounded',
  async run(effort) {
    const { progress, canary, deployment } = effort;
    const step = amount(effort, 1, { short: 13 });
    const conversionTime = amount(effort, 15_000, { short: 5000 });
    const grace = amount(effort, 2000, { short: 60_000 });
    const chosen = BOMBS.filter((_, index) => index % step === 0);
    const served = new Map<string, Buffer>();
    const server = await serveHttp((request, response) => response.end(served.get(request.url ?? '')));
    const failures: string[] = [];
    const slow: string[] = [];
    let most = 0;
    await deployment.withService(
      { canary, sources: [server.port], conversionTime, size: 1 },
      async (service) => {
        for (const [index, { name, app, options, bytes }] of chosen.entries()) {
          served.clear();
          served.set(`/${index}`, await bytes());
          const before = memoryOfEngines(service);
          let peak = 0;
          const watching = setInterval(() => {
            peak = Math.max(peak, memoryOfEngines(service) - before);
          }, 100);
          const outfile = app === 'doc2any' ? 'x.pdf' : 'x.png';
          const answer = await service.ask({
            app,
            infile: `${deployment.originOf(server.port)}/${index}`,
            outfile,
            ...options,
          });
          clearInterval(watching);
          most = Math.max(most, peak);
          const told = `${name}: ${answer.code ?? 'a result'} in ${answer.milliseconds} ms, ${Math.round(peak)} MiB`;
          if (answer.milliseconds > QUICK) slow.push(told);
          const typed =
            answer.results.length === 1 || (answer.code !== undefined && answer.code !== 'INTERNAL');
          if (!typed || answer.milliseconds > conversionTime + grace || peak > GROWTH) failures.push(told);
          progress(index + 1, chosen.length);
        }
      },
    );
    await server.close();
    const quick = chosen.length - slow.length;
    return {
      figure: `${chosen.length}, ${quick} in ${QUICK} ms / ${failures.length} / ${Math.round(most)}`,
      failures,
      notes: slow,
    };
  },
};

function memoryOfEngines(service: AttackedService): number {
  return service.engines().reduce((sum, pid) => sum + readStat(pid).memory, 0);
}
