import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { SAMPLES } from '../../../../infra/local/self-check/samples.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { serveJobs } from '../../attacks/jobs.ts';
import { withSharedService } from '../../neighbor/service.ts';
import type { Row } from '../../row.ts';
import { PICTURE } from '../load/neighbor-row.ts';

/** Maximum seconds of a stop. */
const STOP_TIME = 15;

/** Readers and callers that never finish do not keep a server from stopping. */
export const slowReader: Row = {
  name: 'slow-reader',
  title: 'a slow reader during SIGTERM',
  figures: 'seconds until the service has exited',
  target: `≤ ${STOP_TIME} s`,
  async run() {
    const source = await serveHttp((_request, response) => response.end(PICTURE));
    const reached = await withSharedService({ sources: [source.port], isWarm: false }, async (service) => {
      const query = {
        app: 'imageproc',
        infile: `${source.origin}/`,
        outfile: 'x.tiff',
        '-resize': '5000x5000!',
      };
      const { results, body } = await service.neighbor.ask(query);
      const url = new URL(results[0] ?? 'http://127.0.0.1/no-result');
      // A result that is not read, a request that is never finished, and one that is never started.
      for (const text of [`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\n\r\n`, 'GET /api/?', '']) {
        const socket = connect(service.port, '127.0.0.1').on('error', () => {});
        socket.pause().write(text);
      }
      await setTimeout(300);
      const started = Date.now();
      service.process.kill('SIGTERM');
      await Promise.race([
        once(service.process, 'exit'),
        setTimeout(2000 * STOP_TIME, undefined, { ref: false }),
      ]);
      const seconds = (Date.now() - started) / 1000;
      const failures = [
        ...(seconds > STOP_TIME ? [`${seconds} s`] : []),
        ...(service.process.exitCode === 0 ? [] : [`exit ${service.process.exitCode}`]),
        ...(results.length === 0 ? [`there was no result to read: ${body.slice(0, 150)}`] : []),
      ];
      return { figure: `${seconds.toFixed(1)} s`, failures };
    });
    await source.close();
    return reached;
  },
};

/** Someone else cleans up the folder for temporary files. */
export const sharedTemporary: Row = {
  name: 'shared-temporary',
  title: 'a deleted temporary directory',
  figures: 'conversions that fail afterwards',
  target: '0 of 10',
  async run(effort) {
    const jobs = await serveJobs(effort.deployment);
    const reached = await withSharedService(
      { sources: [jobs.port], isWarm: effort.extent !== 'short' },
      async (service) => {
        const folders = (await readdir(service.temporary)).filter((name) => name.startsWith('docmill-'));
        for (const name of folders) rmSync(join(service.temporary, name), { recursive: true, force: true });
        const failures: string[] = folders.length === 1 ? [] : [`${folders.length} directories`];
        const short = /^(pdftools|imageproc)$/;
        const queries = Array.from({ length: 2 * SAMPLES.length }, (_, index) => jobs.query(index)).filter(
          ({ app = '' }) => effort.extent !== 'short' || short.test(app),
        );
        for (const query of queries) {
          const { body, results } = await service.neighbor.ask(query);
          if (results.length !== 1) failures.push(`${query.app}: ${body.slice(0, 120)}`);
        }
        return { figure: `${failures.length} of ${queries.length}`, failures };
      },
    );
    jobs.close();
    return reached;
  },
};
