import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { constants, zstdCompressSync } from 'node:zlib';
import { SAMPLES, serveSamples } from '../../../../infra/local/self-check/samples.ts';
import { inParallel } from '../../../../layers/parallel.ts';
import {
  circularCompound,
  difatBomb,
  hugeContentTypes,
  longWhiteSpace,
  rtfWords,
} from '../../../fixtures/bombs/hostile-parse.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { MAX_DELAY } from '../../neighbor/heartbeat.ts';
import { withSharedService } from '../../neighbor/service.ts';
import { judge, MAX_MEMORY } from '../../neighbor/verdict.ts';
import { SHORT_FORM_DELAY } from '../../neighbor/watch.ts';
import type { Reached, Row } from '../../row.ts';
import { connectionRows } from './connections.ts';
import { mainThreadRows } from './main-thread.ts';

/** Maximum milliseconds of the main thread for one file. The shortest attack that once worked took 650. */
const MAX_CPU = 300;
const SILENT_NAMES = 400;
/** Enough for 32 concurrent downloads on a busy machine. */
const SLOW: readonly string[] = ['SOURCE_TIMEOUT', 'TIMED_OUT'];

type Serve = (path: string, response: ServerResponse) => void;

function serveAttack(serve: Serve) {
  return serveHttp((request, response) => serve(request.url ?? '/', response));
}

export const silentDns: Row = {
  name: 'silent-dns',
  title: 'images on hosts with a silent name server',
  figures: 'slowest request of another account',
  target: `≤ ${MAX_DELAY} ms, none failed`,
  async run({ times }) {
    const pages = times(4, 2);
    const source = await serveAttack((_path, response) => {
      const images = Array.from({ length: SILENT_NAMES }, (_, index) => {
        return `<img src="http://n${index}-${Math.random()}.silent.test/x.png">`;
      });
      response.setHeader('content-type', 'text/html');
      response.end(`<!doctype html>${images.join('')}`);
    });
    const settings = { sources: [source.port], environment: { CONVERSION_TIME: String(times(30, 8)) } };
    const reached = await withSharedService(settings, async (service) => {
      await service.heartbeat.reset();
      await inParallel([...Array(pages).keys()], pages, (page) =>
        service.attacker.ask({ app: 'html2image', infile: `${source.origin}/${page}`, outfile: 'x.png' }),
      );
      return judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
    });
    await source.close();
    return reached;
  },
};

export const fullQueue: Row = {
  name: 'full-queue',
  title: 'a queue full of sources that never end',
  figures: 'conversions of another account',
  target: `none refused, heartbeat ≤ ${MAX_DELAY} ms`,
  async run({ times }) {
    const stalled = await serveAttack((_path, response) => {
      response.writeHead(200, { 'content-type': 'image/png' }).write('x');
    });
    const samples = await serveSamples();
    const samplePort = Number(new URL(`http://${samples.host}`).port);
    const settings = {
      sources: [stalled.port, samplePort],
      environment: { QUEUE: '16', CONVERSION_TIME: String(times(20, 60)) },
    };
    const reached = await withSharedService(settings, async (service) => {
      let attacking = true;
      const attack = Array.from({ length: 40 }, async (_, lane) => {
        for (let call = 0; attacking; call += 1) {
          const infile = `${stalled.origin}/${lane}/${call}`;
          const { code } = await service.attacker.ask({ app: 'imageproc', infile, outfile: 'x.png' });
          if (code === 'OVERLOADED') await setTimeout(100);
        }
      });
      await setTimeout(500);
      await service.heartbeat.reset();
      const failures: string[] = [];
      const delays: number[] = [];
      const sample = SAMPLES.find(({ tool }) => tool === 'imageproc')!;
      for (let call = 0; call < times(40, 15); call += 1) {
        const infile = `http://127.0.0.1:${samplePort}/${sample.infile}`;
        const answer = await service.neighbor.ask({ app: 'imageproc', infile, outfile: `${call}-x.jpg` });
        delays.push(answer.milliseconds);
        if (answer.results.length !== 1) failures.push(answer.body.slice(0, 120));
      }
      attacking = false;
      const p95 = delays.toSorted((a, b) => a - b)[Math.floor(delays.length * 0.95)];
      await Promise.race([Promise.all(attack), setTimeout(times(22_000, 1000))]);
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      failures.push(...verdict.failures);
      return { ...verdict, figure: `p95 ${p95} ms; ${verdict.figure}`, failures };
    });
    samples.close();
    await stalled.close();
    return reached;
  },
};

export const hostileParsing: Row = {
  name: 'hostile-parsing',
  title: 'sources that are slow to parse',
  figures: 'slowest request of another account; CPU time of the main thread',
  target: `≤ ${MAX_DELAY} ms; ≤ 300 ms a file`,
  async run({ times }) {
    const files: Readonly<Record<string, () => Buffer>> = {
      'bomb.doc': () => difatBomb(4.6),
      'circle.doc': circularCompound,
      'space.doc': () => longWhiteSpace(64_000),
      'space.rtf': () => longWhiteSpace(20_000_000),
      'types.docx': () => hugeContentTypes(290_000_000),
      'words.rtf': () => rtfWords(40_000_000),
    };
    const made = new Map(Object.entries(files).map(([name, make]) => [`/${name}`, make()]));
    const source = await serveAttack((path, response) => void response.end(made.get(path)));
    const settings = { sources: [source.port], environment: { CONVERSION_TIME: String(times(30, 10)) } };
    const reached = await withSharedService(settings, async (service) => {
      await service.heartbeat.reset();
      const failures: string[] = [];
      const notes: string[] = [];
      // LibreOffice uses its whole time limit for the last one.
      for (const path of made.keys()) {
        const before = service.mainThreadTime();
        const infile = `${source.origin}${path}`;
        const { code, milliseconds } = await service.attacker.ask({
          app: 'doc2any',
          infile,
          outfile: 'x.pdf',
        });
        const cpu = service.mainThreadTime() - before;
        notes.push(`${path}: ${code ?? 'a result'} in ${milliseconds} ms, main thread ${cpu} ms`);
        // The heartbeat needs some of them too.
        if (cpu > times(MAX_CPU, 5 * MAX_CPU) + milliseconds / 10) failures.push(notes.at(-1)!);
      }
      const options = Array.from({ length: 10_000 }, (_, index) => `-${index}=`).join('&');
      const query = new URLSearchParams({ apikey: service.attacker.apiKey, app: 'imageproc' });
      const response = await fetch(
        `http://127.0.0.1:${service.port}/api/?${query}&${options.slice(0, 60_000)}`,
      );
      const { length } = await response.text();
      if (response.status !== 400 || length > 10_000)
        failures.push(`${response.status}, ${length} characters`);
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      return { ...verdict, failures: [...failures, ...verdict.failures], notes };
    });
    await source.close();
    return reached;
  },
};

export const wideWindows: Row = {
  name: 'wide-windows',
  title: 'wide zstd windows and gzip bombs',
  figures: 'MiB of the server; slowest request of another account',
  target: `≤ ${MAX_MEMORY} MiB; ≤ ${MAX_DELAY} ms`,
  async run({ times }) {
    const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_compressionLevel]: 1 };
    const wide = zstdCompressSync(Buffer.alloc(140_000_000), { params });
    const source = await serveAttack((_path, response) => {
      response.writeHead(200, { 'content-encoding': 'zstd' }).end(wide);
    });
    const reached = await withSharedService({ sources: [source.port] }, async (service) => {
      await service.heartbeat.reset();
      const codes = await inParallel([...Array(32).keys()], 32, async (index) => {
        const infile = `${source.origin}/${index}`;
        return (await service.attacker.ask({ app: 'imageproc', infile, outfile: 'x.png' })).code;
      });
      const expected = ['CORRUPT_SOURCE', 'SOURCE_TOO_LARGE', ...(times(0, 1) === 1 ? SLOW : [])];
      const unexpected = codes.filter((code) => !expected.includes(code!));
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      const failures = [...verdict.failures];
      if (unexpected.length > 0) failures.push(`answers: ${[...new Set(unexpected)]}`);
      return { ...verdict, failures };
    });
    await source.close();
    return reached;
  },
};

export const slowReader: Row = {
  name: 'slow-reader',
  title: 'a slow reader during SIGTERM',
  figures: 'seconds until the service has exited',
  target: '≤ 15 s',
  async run({ times }) {
    const most = times(15, 60);
    const samples = await serveSamples();
    const port = Number(new URL(`http://${samples.host}`).port);
    const reached = await withSharedService({ sources: [port] }, async (service): Promise<Reached> => {
      const sample = SAMPLES.find(({ tool }) => tool === 'imageproc')!;
      const infile = `http://127.0.0.1:${port}/${sample.infile}`;
      const { results, body } = await service.neighbor.ask({
        app: 'imageproc',
        infile,
        outfile: 'x.tiff',
        '-resize': '5000x5000!',
      });
      const url = new URL(results[0] ?? 'http://127.0.0.1/no-result');
      const reader = connect(service.port, '127.0.0.1').on('error', () => {});
      reader.write(`GET ${url.pathname}${url.search} HTTP/1.1\r\nHost: x\r\n\r\n`);
      reader.pause();
      // A request that is never finished, and one that is never started.
      for (const text of ['GET /api/?', '']) {
        connect(service.port, '127.0.0.1')
          .on('error', () => {})
          .write(text);
      }
      await setTimeout(300);
      const started = Date.now();
      service.process.kill('SIGTERM');
      await Promise.race([once(service.process, 'exit'), setTimeout(2000 * most)]);
      const seconds = (Date.now() - started) / 1000;
      reader.destroy();
      const failures = seconds > most ? [`${seconds} s`] : [];
      if (service.process.exitCode !== 0) failures.push(`exit ${service.process.exitCode}`);
      if (results.length === 0) failures.push(`there was no result to read: ${body.slice(0, 150)}`);
      return { figure: `${seconds.toFixed(1)} s`, failures };
    });
    samples.close();
    return reached;
  },
};

export const sharedTemporary: Row = {
  name: 'shared-temporary',
  title: 'a deleted temporary directory',
  figures: 'conversions that fail afterwards',
  target: '0 of 10',
  async run() {
    const samples = await serveSamples();
    const port = Number(new URL(`http://${samples.host}`).port);
    const reached = await withSharedService({ sources: [port] }, async (service) => {
      const folders = (await readdir(service.temporary)).filter((name) => name.startsWith('docmill-'));
      for (const name of folders) rmSync(join(service.temporary, name), { recursive: true, force: true });
      const failures: string[] = folders.length === 1 ? [] : [`${folders.length} directories`];
      for (let round = 0; round < 2; round += 1) {
        for (const { tool, infile, outfile, options } of SAMPLES) {
          const query = {
            app: tool,
            infile: `http://127.0.0.1:${port}/${infile}`,
            outfile: `${round}-${outfile}`,
          };
          const { body, results } = await service.neighbor.ask({ ...query, ...options });
          if (results.length !== 1) failures.push(`${tool}: ${body.slice(0, 120)}`);
        }
      }
      return { figure: `${failures.length} of ${2 * SAMPLES.length}`, failures };
    });
    samples.close();
    return reached;
  },
};

export const referrer: Row = {
  name: 'referrer',
  title: 'redirects and links to another origin',
  figures: 'paths and queries in `Referer`',
  target: '0',
  async run() {
    const seen: string[] = [];
    const other = await serveHttp((request, response) => {
      seen.push(request.headers.referer ?? 'none');
      response.writeHead(200, { 'content-type': 'text/html' }).end('<p>other</p>');
    });
    const source = await serveAttack((path, response) => {
      if (path.startsWith('/redirect'))
        return void response.writeHead(302, { location: `${other.origin}/r` }).end();
      response.setHeader('content-type', 'text/html');
      const image = `<img src="${other.origin}/i"><img src="/redirect?token=SECRET"><iframe src="/redirect?token=SECRET"></iframe>`;
      response.end(`<!doctype html>${image}`);
    });
    const settings = { sources: [source.port, other.port] };
    const reached = await withSharedService(settings, async (service) => {
      const query = { app: 'html2image', outfile: 'x.png', '--custom-header': 'X-Token:SECRET' };
      const answer = await service.attacker.ask({ ...query, infile: `${source.origin}/page?token=SECRET` });
      const hanging = await service.attacker.ask({
        app: 'html2image',
        outfile: 'x.png',
        infile: `${source.origin}/page`,
        '--custom-header': 'Keep-Alive:timeout=5',
      });
      const failures = seen.filter((value) => /SECRET|page/.test(value));
      if (answer.results.length !== 1) failures.push(answer.body.slice(0, 150));
      if (seen.length < 2) failures.push(`only ${seen.length} requests to the other origin`);
      if (hanging.code !== 'BAD_PARAMETER')
        failures.push(`Keep-Alive: ${hanging.code} in ${hanging.milliseconds} ms`);
      return { figure: `${failures.length} of ${seen.length} requests`, failures };
    });
    await Promise.all([source.close(), other.close()]);
    return reached;
  },
};

/** Rows in which a second account is monitored. */
export const neighborRows: readonly Row[] = [
  silentDns,
  fullQueue,
  ...connectionRows,
  hostileParsing,
  wideWindows,
  ...mainThreadRows,
  slowReader,
  sharedTemporary,
  referrer,
];
