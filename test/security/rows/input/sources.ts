import { ERRORS } from '../../../../functions/shared/errors.ts';
import * as tools from '../../../../functions/tools.ts';
import { inParallel } from '../../../../layers/build/command.ts';
import { RAW_FAULTS, serveHttp, serveRaw } from '../../../helpers/fault-server.ts';
import type { AttackedService } from '../../deployment/deployment.ts';
import { amount, type Row } from '../../row.ts';

const STATUSES = [204, 304, 400, 401, 403, 404, 410, 418, 429, 500, 502, 503, 599];
/** A part of a file that was not requested. Browsers show a part of a page. */
const PARTIAL = 206;
/** Circular redirects, and redirects to ever longer URLs. */
const REDIRECTS: Readonly<Record<string, (path: string) => string>> = {
  'redirects to itself': (path) => path,
  'redirects forever': (path) => `${path}x`,
  'redirects to loopback': () => 'http://127.0.0.1:1/',
  'redirects to metadata': () => 'http://169.254.169.254/latest/meta-data/',
  'redirects to a file': () => 'file:///etc/passwd',
};

/** Every way in which a source's server can misbehave, with every tool over HTTP and the real time limits. */
export const sources: Row = {
  name: 'sources',
  title: 'misbehaving sources',
  figures: 'untyped responses',
  target: '≥ 125, 0',
  async run(effort) {
    const { extent, progress, canary, deployment } = effort;
    const isShort = extent === 'short';
    const all = await Promise.all([...rawSources(), ...statusSources(), ...redirectSources()]);
    // A test of the downloader has every fault, too.
    const served = all.filter((_, index) => !isShort || index % 4 === 0);
    // One tool that downloads and one that browses are enough for the short extent.
    const names = Object.keys(tools).filter((name) => !isShort || /^(pdftools|html2image)$/.test(name));
    const partial = await serveStatus(PARTIAL);
    const call = ({ fault, port }: (typeof served)[number], app: string) => ({
      fault,
      address: `${deployment.originOf(port)}/x.pdf`,
      app,
    });
    const calls = [
      ...served.flatMap((source) => names.map((app) => call(source, app))),
      ...names.filter((name) => !/^html2/.test(name)).map((app) => call(partial, app)),
    ];
    const failures: string[] = [];
    let done = 0;
    const conversionTime = amount(effort, 30_000, { short: 5000 });
    const sources = [partial, ...all].map(({ port }) => port);
    const settings = { canary, sources, size: 4, conversionTime };
    try {
      await deployment.withService(settings, (service) =>
        inParallel(
          calls,
          Math.min(40, deployment.callers * names.length),
          async ({ fault, address, app }) => {
            const fail = await attack(service, app, address, amount(effort, 40_000, { short: 200_000 }));
            if (fail !== undefined) failures.push(`${app}, a source that ${fault}: ${fail}`);
            progress(++done, calls.length);
          },
        ),
      );
    } finally {
      await Promise.all([partial, ...all].map(({ close }) => close()));
    }
    return { figure: `${calls.length}, ${failures.length}`, failures };
  },
};

async function attack(
  service: AttackedService,
  app: string,
  address: string,
  maxTime: number,
): Promise<string | undefined> {
  const outfile = { html2pdf: 'x.pdf', doc2any: 'x.pdf' }[app] ?? 'x.jpg';
  const { status, code, body, milliseconds } = await service.ask({ app, infile: address, outfile });
  const late = milliseconds > maxTime ? `answered after ${milliseconds} ms` : undefined;
  if (code === undefined || !Object.hasOwn(ERRORS, code) || code === 'INTERNAL')
    return `${status} ${body.slice(0, 120)}`;
  return late;
}

function rawSources() {
  return Object.entries(RAW_FAULTS).map(async ([fault, { answer }]) => {
    const server = await serveRaw(answer);
    return { fault, port: server.port, close: server.close };
  });
}

function statusSources() {
  return STATUSES.map(serveStatus);
}

async function serveStatus(status: number) {
  const server = await serveHttp((_request, response) => response.writeHead(status).end('an error page'));
  return { fault: `answers ${status}`, port: server.port, close: server.close };
}

function redirectSources() {
  return Object.entries(REDIRECTS).map(async ([fault, target]) => {
    const server = await serveHttp((request, response) => {
      response.writeHead(302, { location: target(request.url ?? '/') }).end();
    });
    return { fault, port: server.port, close: server.close };
  });
}
