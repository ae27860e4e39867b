import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import fc from 'fast-check';
import { readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { createApiKey } from '../../../functions/platform/keys.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { ERRORS } from '../../../functions/shared/errors.ts';
import { createLog } from '../../../functions/shared/log.ts';
import { CONVERSION_LIMITS, type Tool } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { createHttpServer } from '../../../infra/local/server/http/server.ts';
import { inParallel } from '../../../layers/build/command.ts';
import { spellingsOfV4 } from '../../fixtures/address-spellings.ts';
import { DOCUMENT_BOMBS, IMAGE_BOMBS, PDF_BOMBS } from '../../fixtures/bombs.ts';
import { recordOf, unlimited } from '../../functions/accounts.ts';
import { RAW_FAULTS, serveHttp, serveRaw } from '../../helpers/fault-server.ts';
import { brokenQuery } from '../attacks/broken-query.ts';
import { LEAK_FILES } from '../attacks/ooxml.ts';
import { httpGet } from '../attacks/requests.ts';
import type { AttackedService } from '../deployment/deployment.ts';
import { lambdaEmulator, openEmulatedService } from '../deployment/emulator.ts';
import { inOwnNamespace } from '../namespace/run.ts';
import { amount, type Effort, type Reached, type Row } from '../row.ts';

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

const ROOT = join(import.meta.dirname, '../../..');
const TARGET = { url: 'http://127.0.0.1:9/x', path: '/etc/passwd' };

/** Documents with external references, and the first half of each, as a folder for `npm run corpus`. */
export const corpus: Row = {
  name: 'corpus',
  title: 'a corpus of broken and hostile files',
  figures: 'hangs, orphaned processes, untyped errors',
  target: 'each a checked output or a typed error',
  async run({ progress, canary, deployment }) {
    const directory = await mkdtemp(join(tmpdir(), 'hostile-'));
    const leaks = LEAK_FILES.filter(({ extension }) => extension !== 'csv');
    let count = 0;
    const put = (name: string, bytes: Buffer) =>
      writeFile(join(directory, `${count++}-${name.replace(/[^\w.-]+/g, '-')}`), bytes);
    for (const { name, extension, bytes } of leaks) {
      const whole = await bytes(TARGET);
      await put(`${name}.${extension}`, whole);
      await put(`half-${name}.${extension}`, whole.subarray(0, whole.length / 2));
    }
    progress(0, count);
    const args = ['test/corpus/main.ts', directory, '--fresh', '--ledger', join(directory, 'ledger.jsonl')];
    const { code, text } = await deployment.withCommand(canary, (env) => run(args, env));
    await rm(directory, { recursive: true });
    // A document that contains only a blocked link is correctly blank.
    const misses = text
      .split('\n')
      .filter((line) => /^(MISS|ORPHAN) /.test(line) && !line.endsWith(': blank'));
    const broken = code > 1 || !/files +ok/.test(text) ? [`ended with ${code}: ${text.slice(-500)}`] : [];
    return { figure: `${count} files, ${misses.length} misses`, failures: [...misses, ...broken] };
  },
};

function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { cwd: ROOT, maxBuffer: 1e8, env: { ...process.env, ...env } },
      (error, stdout, stderr) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, text: `${stderr}\n${stdout}` });
      },
    );
  });
}

const ROW = {
  name: 'queries',
  title: 'broken query strings',
  figures: 'responses with status 500 / engines started',
  target: '2000, 0 / 0',
};

/**
 * Broken queries over real HTTP through the real router. Only the engines are replaced, to count which
 * queries reach them.
 */
export const queries: Row = {
  ...ROW,
  async run(effort) {
    const { canary } = effort;
    const apiKey = createApiKey();
    canary.watch(apiKey);
    let started = 0;
    const storage = { grant: async () => ({}) as never, address: async () => 'http://localhost/' };
    const dependencies = {
      tools: TOOLS,
      ...unlimited,
      keys: {
        find: async (given: string) => (given === apiKey ? recordOf('one') : undefined),
        findSigner: async () => undefined,
      },
      storage: storage as never,
      invoke: async () => {
        started += 1;
        throw new Error('An engine was started.');
      },
      coalesce: createCoalescer(),
      limits: CONVERSION_LIMITS,
      contact: { accountUrl: 'http://localhost/account', supportUrl: 'http://localhost/support' },
      log: createLog((line) => canary.inspect('log', line)),
    };
    const { server } = createHttpServer({
      log: () => {},
      connections: 100,
      storage: undefined as never,
      texts: new Map(),
      route: (http, _base, signal) => route(http, dependencies, signal),
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };

    try {
      return await attack(port, apiKey, effort, () => started);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  },
};

/** The same through the gateway and the router as deployed. The events that reach the tools are counted. */
export const emulatorQueries: Row = {
  ...ROW,
  run: (effort) =>
    lambdaEmulator.withService(effort, ({ base, apiKey, emulator }) => {
      const started = () => TOOLS.reduce((sum, { name }) => sum + emulator.functions.get(name)!.events, 0);
      return attack(Number(new URL(base).port), apiKey, effort, started);
    }),
};

const TOOLS: readonly Tool[] = Object.values(tools);

async function attack(port: number, apiKey: string, effort: Effort, started: () => number): Promise<Reached> {
  const { progress, canary } = effort;
  const rounds = amount(effort, 2000, { short: 200 });
  const failures: string[] = [];
  let done = 0;
  const judge = async (query: string) => {
    const { status, headers, body } = await httpGet(port, `/api/?${query}`);
    canary.inspect('answer to a broken query', body + JSON.stringify(headers));
    const code = String(headers['x-error-code'] ?? '');
    const typed = Object.hasOwn(ERRORS, code) && body.endsWith(`(${code})`) && status < 500;
    const keyless = status === 200 && body.startsWith('[ERROR] Please provide a valid APIKEY.');
    // Requests that no HTTP parser accepts never reach the router.
    const refused = status === 400 && body === '';
    const plain = headers['content-type'] === 'text/plain; charset=utf-8';
    if (!refused && !((typed || keyless) && plain))
      failures.push(`${status} ${code}: ${query.slice(0, 150)}`);
    progress(++done, rounds);
  };
  await fc.assert(fc.asyncProperty(brokenQuery(TOOLS, apiKey), judge), {
    numRuns: rounds,
    seed: 20_261_120,
  });
  if (started() > 0) failures.push(`${started()} engines started`);
  const errors = failures.filter((failure) => failure.startsWith('5')).length;
  return { figure: `${done}, ${errors} / ${started()}`, failures };
}

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
            const fail = await misbehave(service, app, address, amount(effort, 40_000, { short: 200_000 }));
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

async function misbehave(
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

/** A state machine that passes on JSON of its users must not give them the rights of the router. */
export const directEvents = inOwnNamespace(
  {
    name: 'direct-events',
    title: 'direct events with grants, limits and uploads',
    figures: 'events / taken as the router’s / connections to private addresses',
    target: '≥ 200 / 0 / 0',
  },
  sendEvents,
);

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PRIVATE = ['127.0.0.1', '169.254.169.254', '169.254.100.1', '10.0.0.1'];
const PATH = '/2018-06-01/runtime/invocation/next';
/** Names of the alias, and what is not the number of a version. */
const QUALIFIERS = ['live', 'v1', '1a', 'LATEST'];

async function sendEvents({ progress, canary, deployment }: Effort): Promise<Reached> {
  const wires = await deployment.layTripwires();
  const site = await serveHttp((_request, response) => response.writeHead(200).end(PICTURE));
  const infile = `${lambdaEmulator.originOf(site.port)}/a.png`;
  const service = await openEmulatedService({ canary, sources: [site.port] });
  const credentials = { accessKeyId: 'caller', secretAccessKey: 'secret' };
  const lambda = new LambdaClient({ endpoint: service.emulator.lambda, region: 'us-east-1', credentials });
  const events = Object.keys(tools).flatMap((tool) => eventsFor(tool, infile));
  const failures: string[] = [];
  let done = 0;
  try {
    await inParallel(events, 4, async ({ tool, event }, index) => {
      const qualifier = QUALIFIERS[index % QUALIFIERS.length];
      const { Payload, FunctionError } = await lambda.send(
        new InvokeCommand({
          FunctionName: `arn:aws:lambda:us-east-1:123456789012:function:${tool}:${qualifier}`,
          Payload: JSON.stringify(event),
          TenantId: 'outsider',
        }),
      );
      const text = Buffer.from(Payload ?? []).toString();
      const { errorType = '' } = JSON.parse(text) as { errorType?: string };
      const isTyped = Object.hasOwn(ERRORS, errorType) && errorType !== 'INTERNAL';
      if (FunctionError === undefined || !isTyped)
        failures.push(`${tool}:${qualifier} ${JSON.stringify(event).slice(0, 200)}: ${text.slice(0, 200)}`);
      progress(++done, events.length);
    });
    const taken = failures.length;
    const visitors = service.visitors();
    const { tcp } = wires.hits();
    if (tcp + visitors > 0)
      failures.push(`${tcp} connections`, `${visitors} to a Runtime API`, ...wires.asked);
    return { figure: `${events.length} / ${taken} / ${tcp + visitors}`, failures };
  } finally {
    lambda.destroy();
    await Promise.all([service.close(), wires.close(), site.close()]);
  }
}

/** Events of the router with a grant of the caller's own, public events with the router's fields, and uploads to private addresses. */
function eventsFor(tool: string, infile: string): { tool: string; event: object }[] {
  const targets = PRIVATE.flatMap((address) =>
    spellingsOfV4(address)
      .filter((host) => !/\]?:\d+$/.test(host))
      .map((host) => `http://${host}:9001${PATH}`),
  ).filter((url) => URL.canParse(url));
  const limits = {
    sourceBytes: 1e12,
    resultBytes: 1e12,
    pixels: 1e12,
    pages: 1e9,
    files: 1e9,
    conversionTime: 1e9,
    settleTime: 1,
  };
  const invocation = (url: string) => ({
    tool,
    account: 'victim',
    source: url,
    format: 'png',
    outputName: { kind: 'one', name: 'a.png' },
    options: {},
    grant: { url, fields: { key: 'x' }, prefix: '', maxBytes: 1e12 },
    limits,
    deadline: 1e15,
  });
  const outfile = tool === 'html2pdf' || tool === 'doc2any' ? 'a.pdf' : 'a.png';
  const event = { version: 1, infile, outfile };
  const some = targets.filter((_, index) => index % 20 === 0);
  const router = some.flatMap((url) => [invocation(url), { ...invocation(url), version: 1 }]);
  const uploads = some.flatMap((url) => [
    { ...event, infile: url },
    { ...event, upload: { url } },
    { ...event, upload: { url, fields: { key: 'x' } } },
  ]);
  const fields = {
    grant: { url: infile },
    limits,
    account: 'victim',
    files: [],
    validate: {},
    deadline: 1e15,
    tool,
    source: infile,
  };
  const mixed = Object.entries(fields).map(([name, value]) => ({ ...event, [name]: value }));
  // The guard, the reader of events or the engine must refuse each of these.
  return [...router, ...mixed, ...uploads].map((each) => ({ tool, event: each }));
}
