import { spawnSync } from 'node:child_process';
import { mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as tools from '../../../functions/tools.ts';
import { inParallel } from '../../../layers/build/command.ts';
import { spellingsOfV4 } from '../../fixtures/address-spellings.ts';
import { serveHttp } from '../../helpers/fault-server.ts';
import { VECTORS } from '../attacks/browser-vectors.ts';
import { PIXEL, type Target } from '../attacks/office.ts';
import { LEAK_FILES } from '../attacks/ooxml.ts';
import type { BrowserRules } from '../deployment/deployment.ts';
import { convertUnprotected } from '../deployment/one-machine.ts';
import { inOwnNamespace, MARKER, PRIZE_PORT, RUNTIME_PORT } from '../namespace/run.ts';
import { amount, type Effort, type Reached } from '../row.ts';

/** Pages try to reach the secrets of a machine in every way that a browser offers. */
export const browserLeaks = inOwnNamespace(
  {
    name: 'browser-leaks',
    title: 'browser leak vectors',
    figures: 'hits by TCP / UDP / DNS',
    target: '≥ 40, 0 / 0 / 0',
  },
  leakFromPages,
);

/** Real time in milliseconds for requests that do not count as loading. It grows with each attempt. */
const HOLD = 1000;
const ATTEMPTS = 6;

const NAME = 'inside.example';
/** The Runtime API of the attacked sandbox itself, or a stand-in if there is none. */
const OWN_RUNTIME = 'own';
const TARGETS = [
  OWN_RUNTIME,
  `127.0.0.1:${PRIZE_PORT}`,
  `169.254.100.1:${RUNTIME_PORT}`,
  `${NAME}:${PRIZE_PORT}`,
  `[::1]:${PRIZE_PORT}`,
  '169.254.169.254:80',
];

/** Serves a page for each vector, which tries to reach the host that its query names, and an open server that notes who reached it. */
async function serveVectors(holdTime = () => 0) {
  const seen = new Set<number>();
  const open = await serveHttp((request, response) => {
    seen.add(Number(/^\/(\d+)/.exec(request.url ?? '')?.[1]));
    response.setHeader('access-control-allow-origin', '*');
    response.end('open');
  });
  const pages = await serveHttp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://page');
    const [index, host] = [Number(pathname.slice(1)), searchParams.get('to') ?? ''];
    if (pathname === '/held') return void setTimeout(() => response.end(), holdTime());
    const vector = VECTORS[index];
    const url = `http://${host}/${index}`;
    if (vector?.redirects) return response.writeHead(302, { location: url }).end();
    response.writeHead(vector ? 200 : 404, { 'content-type': 'text/html', ...vector?.headers?.(url) });
    response.end(vector?.page(url, host) ?? '');
  });
  return { seen, open, pages };
}

function attackBrowsers(deployment: Effort['deployment'], rules: BrowserRules) {
  return Promise.all(
    (['html2image', 'html2pdf'] as const).map((name) => deployment.attackBrowser(name, rules)),
  );
}

/** A result must not be a fault of the service, or show what only the service may reach. */
function failuresOf(result: string | Buffer, attack: string): string[] {
  const text = typeof result === 'string' ? result : result.toString('latin1');
  const isLeak = /Error/.test(text.slice(0, 20)) || text.includes(MARKER);
  return isLeak ? [`${attack}: ${text.slice(0, 200)}`] : [];
}

async function leakFromPages(effort: Effort): Promise<Reached> {
  const { progress, canary, deployment } = effort;
  const wires = await deployment.layTripwires();
  let hold = HOLD;
  const { seen, open, pages } = await serveVectors(() => hold);
  const origin = deployment.originOf(pages.port);
  const rules = {
    canary,
    sources: [pages.port, open.port],
    ports: [80, 443, PRIZE_PORT, RUNTIME_PORT],
    resolve: async (host: string) => [host === NAME ? '127.0.0.1' : '192.0.3.1'],
  };
  const tools = await attackBrowsers(deployment, rules);
  const step = amount(effort, 1, { short: 12 });
  const vectors = [...VECTORS.keys()].filter((vector) => vector % step === 0);
  // The short extent has one target for each vector.
  const attacks = vectors.flatMap((vector) =>
    TARGETS.filter((_, target) => step === 1 || (vector / step + target) % TARGETS.length === 0).map(
      (host) => ({ vector, host }),
    ),
  );
  const secure = new URL(origin).hostname === '127.0.0.1';
  const controls = vectors
    .filter((vector) => !VECTORS[vector]!.unseen && (secure || !VECTORS[vector]!.secure))
    .map((vector) => ({ vector, host: new URL(deployment.originOf(open.port)).host }));
  const failures: string[] = [];
  let done = 0;
  await inParallel([...attacks, ...controls], 3, async ({ vector, host }, index) => {
    const tool = tools[index % 2]!;
    const target = host === OWN_RUNTIME ? (tool.runtimeApis()[0] ?? `127.0.0.1:${RUNTIME_PORT}`) : host;
    const address = `${origin}/${vector}?to=${target}`;
    const result = await tool.convert(address).catch((thrown: unknown) => String(thrown));
    failures.push(...failuresOf(result, `${VECTORS[vector]!.name} to ${target}`));
    progress(++done, attacks.length + controls.length);
  });

  const { tcp, udp, dns, runtime: standIns } = wires.hits();
  const visitors = tools.reduce((sum, tool) => sum + tool.visitors(), 0);
  const runtime = standIns + visitors;
  if (visitors > 0) failures.push(`${visitors} connections to the Runtime API of a sandbox`);
  if (tcp + udp + dns > 0) failures.push(`${tcp} connections, ${udp} datagrams`, ...new Set(wires.asked));
  // A page may end before its socket is open, so it gets a few more tries.
  const isDead = ({ vector }: { vector: number }) => !seen.has(vector);
  for (let round = 0; round < ATTEMPTS; round++) {
    hold += HOLD;
    for (const { vector, host } of controls.filter(isDead))
      await tools[round % 2]!.convert(`${origin}/${vector}?to=${host}`).catch(() => {});
  }
  const dead = controls.filter(isDead);
  failures.push(
    ...dead.map(({ vector }) => `${VECTORS[vector]!.name}: does nothing even where it is allowed`),
  );
  await Promise.all([...tools, pages, open, wires].map((each) => each.close()));
  const figure = `${vectors.length} (${attacks.length} pages), ${tcp} / ${udp} / ${dns}, Runtime API ${runtime}`;
  return { figure, failures };
}

/** Uploaded pages try to reach anything, also what a page behind a URL may reach. */
export const uploadedLeaks = inOwnNamespace(
  {
    name: 'uploaded-leaks',
    title: 'leak vectors of an uploaded page',
    figures: 'hits by TCP / UDP / DNS / of a public server',
    target: '≥ 40, 0 / 0 / 0 / 0',
  },
  leakFromUploads,
);

/** Attempts of a page that may reach the public server. It may end before its request is sent. */
const UPLOAD_ATTEMPTS = 6;
const UPLOAD_TARGETS = [
  `127.0.0.1:${PRIZE_PORT}`,
  `169.254.100.1:${RUNTIME_PORT}`,
  `[::1]:${PRIZE_PORT}`,
  '169.254.169.254:80',
  'outside.example',
];

async function leakFromUploads({ progress, canary, deployment }: Effort): Promise<Reached> {
  const wires = await deployment.layTripwires();
  const { seen, open, pages } = await serveVectors();
  const rules = { canary, sources: [pages.port, open.port], ports: [80, 443, PRIZE_PORT, RUNTIME_PORT] };
  const tools = await attackBrowsers(deployment, rules);
  const convert = (vector: number, host: string, index: number, hasNetwork: boolean) =>
    tools[index % tools.length]!.upload!(`${pages.origin}/${vector}?to=${host}`, hasNetwork);

  const allowed = new URL(open.origin).host;
  const hosts = [allowed, ...UPLOAD_TARGETS];
  // An upload has no headers of its own.
  const vectors = [...VECTORS.keys()].filter(
    (vector) => !VECTORS[vector]!.redirects && !VECTORS[vector]!.headers,
  );
  const attacks = vectors.flatMap((vector) => hosts.map((host) => ({ vector, host })));
  const failures: string[] = [];
  let done = 0;
  await inParallel(attacks, 3, async ({ vector, host }, index) => {
    const result = await convert(vector, host, index, false).catch(String);
    failures.push(...failuresOf(result, `${VECTORS[vector]!.name} to ${host}`));
    progress(++done, attacks.length);
  });
  const { tcp, udp, dns } = wires.hits();
  if (tcp + udp + dns > 0) failures.push(`${tcp} connections, ${udp} datagrams`, ...new Set(wires.asked));
  failures.push(...[...seen].map((vector) => `${VECTORS[vector]?.name} reached a public server`));
  const reached = seen.size;
  seen.clear();

  // The same pages reach it where they may, or the attacks above would show nothing.
  const controls = vectors.filter((vector) => !VECTORS[vector]!.unseen && !VECTORS[vector]!.secure);
  for (let round = 0; round < UPLOAD_ATTEMPTS; round++) {
    const dead = controls.filter((vector) => !seen.has(vector));
    await inParallel(dead, 3, (vector) => convert(vector, allowed, round, true).catch(() => 'nothing'));
  }
  const dead = controls.filter((vector) => !seen.has(vector));
  failures.push(...dead.map((vector) => `${VECTORS[vector]!.name}: does nothing even where it is allowed`));
  await Promise.all([...tools, pages, open, wires].map((each) => each.close()));
  return {
    figure: `${vectors.length} (${attacks.length} pages), ${tcp} / ${udp} / ${dns} / ${reached}`,
    failures,
  };
}

/**
 * Documents with references to the network and to files of the machine. Each goes to doc2any, and to its LibreOffice
 * unchecked.
 */
export const officeLeaks = inOwnNamespace(
  {
    name: 'office-leaks',
    title: 'office documents with external references',
    figures: 'connections / files opened',
    target: '≥ 50, 0 / 0',
  },
  leakFromDocuments,
);

async function leakFromDocuments(effort: Effort): Promise<Reached> {
  const { progress, canary, deployment } = effort;
  const step = amount(effort, 1, { short: 16 });
  const whole = step === 1;
  const { opensOffice } = deployment;
  const secrets = laySecrets();
  const secret = secrets.lay('secret.png');
  const targets: Target[] = [
    { url: `http://127.0.0.1:${PRIZE_PORT}/x.png`, path: '\\\\127.0.0.1\\share\\x.png' },
    { url: `file://${secret.path}`, path: secret.path },
    {
      url: `http://169.254.100.1:${RUNTIME_PORT}${NEXT_EVENT}`,
      path: '\\\\169.254.100.1\\x',
    },
  ];
  const wires = await deployment.layTripwires();
  const office = await deployment.attackOffice(canary);
  const runtimeApis = office.runtimeApis();
  targets.push(
    ...runtimeApis.map((host) => ({ url: `http://${host}${NEXT_EVENT}`, path: `\\\\${host}\\x` })),
  );
  // The short extent has one target for each file.
  const files = LEAK_FILES.filter((_, index) => index % step === 0);
  const attacks = files.flatMap((file, index) =>
    targets
      .filter((_, target) => whole || target === index % 2)
      .flatMap((target) => [true, false].map((unchecked) => ({ file, target, unchecked })))
      .filter(({ unchecked }) => opensOffice || !unchecked),
  );
  const failures: string[] = [];
  let done = 0;
  await inParallel(attacks, 2, async ({ file, target, unchecked }) => {
    const outcome = await office.convert({ file, bytes: await file.bytes(target) }, unchecked);
    const name = `${file.name}${unchecked ? ', unchecked' : ''} → ${target.url}`;
    if (outcome.startsWith('fault')) failures.push(`${name}: ${outcome}`);
    progress(++done, attacks.length);
  });
  await office.close();
  const { tcp, udp, dns, runtime: standIns } = wires.hits();
  const visitors = office.visitors();
  const runtime = standIns + visitors;
  if (visitors > 0) failures.push(`${visitors} connections to the Runtime API of a sandbox`);
  const opened = secret.opened();
  if (tcp + udp + dns > 0) failures.push(`${tcp} connections, ${udp} datagrams`, ...new Set(wires.asked));
  if (opened) failures.push('a file of the machine was read');

  const live = whole && opensOffice ? await countLive() : undefined;
  if (live !== undefined && live < 10) failures.push(`only ${live} files work in an unprotected LibreOffice`);
  await wires.close();
  const counted = `${files.length} (${attacks.length} conversions), ${tcp + udp} / ${opensOffice ? Number(opened) : 'not looked for'}, Runtime API ${runtime}`;
  return { figure: live === undefined ? counted : `${counted}; ${live} work without protection`, failures };

  /** Number of files that access their target in an unprotected LibreOffice. Each has its own target. */
  async function countLive(): Promise<number> {
    const locals = LEAK_FILES.map((_, index) => secrets.lay(`${index}.png`));
    const towards = [
      (index: number) => ({ url: `http://127.0.0.1:${PRIZE_PORT}/live-${index}`, path: '\\\\127.0.0.1\\x' }),
      (index: number) => ({ url: `file://${locals[index]!.path}`, path: locals[index]!.path }),
    ];
    const indices = LEAK_FILES.map((_, index) => index);
    const batches = towards.flatMap((target) =>
      indices.flatMap((first) =>
        first % BATCH === 0 ? [{ target, some: indices.slice(first, first + BATCH) }] : [],
      ),
    );
    await inParallel(batches, 2, async ({ target, some }, index) => {
      const samples = some.map(async (each) => ({
        file: LEAK_FILES[each]!,
        bytes: await LEAK_FILES[each]!.bytes(target(each)),
      }));
      await convertUnprotected(await Promise.all(samples));
      progress(attacks.length + index, attacks.length + batches.length);
    });
    const asked = new Set(wires.asked.map((line) => /\/live-(\d+)$/.exec(line)?.[1]));
    return indices.filter((index) => asked.has(String(index)) || locals[index]!.opened()).length;
  }
}

const NEXT_EVENT = '/2018-06-01/runtime/invocation/next';
/** Number of documents per unprotected LibreOffice, which may hang on one of them and block the others. */
const BATCH = 5;

/** Images on a file system that records every access in the access time. */
function laySecrets() {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'));
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'strictatime', 'tmpfs', directory]);
  if (status !== 0) throw new Error('The file system that records every access could not be mounted.');
  const lay = (name: string) => {
    const path = join(directory, name);
    writeFileSync(path, PIXEL);
    const laid = statSync(path).atimeMs;
    return { path, opened: () => statSync(path).atimeMs !== laid };
  };
  return { lay };
}

/** A single GET there would steal the next caller's event. Every tool is sent there, directly and by redirects. */
export const runtimeApi = inOwnNamespace(
  {
    name: 'runtime-api',
    title: 'the Runtime API as a source',
    figures: 'requests that it received / responses in an output',
    target: 'none, 0 / 0',
  },
  visitRuntimeApis,
);

const PATH = '/2018-06-01/runtime/invocation/next';
const outfileOf = (app: string) => (/^(html2pdf|doc2any)$/.test(app) ? 'x.pdf' : 'x.png');

/** The Runtime API's URL, written normally and in ways that only an attacker would use. */
function withSpellings(place: string): string[] {
  const { hostname, port } = new URL(`http://${place}`);
  return spellingsOfV4(hostname)
    .filter((host) => !PORTED.test(host))
    .slice(0, 2)
    .map((host) => `${host}:${port}`);
}

const PORTED = /\]?:\d+$/;

async function visitRuntimeApis(effort: Effort): Promise<Reached> {
  const { progress, canary, deployment } = effort;
  const wires = await deployment.layTripwires();
  const hosts = ['127.0.0.1', '169.254.100.1'].flatMap(spellingsOfV4).filter((host) => !PORTED.test(host));
  const places = [...hosts, 'localhost', 'localhost.', '[::1]', '[::]', '0.0.0.0'].map(
    (host) => `${host}:9001`,
  );
  const addresses: string[] = [];
  // Redirects from an allowed source to the Runtime API.
  const guide = await serveHttp((request, response) => {
    const [kind, index] = (request.url ?? '').split('/').slice(1);
    // Headers are bytes.
    const target = Buffer.from(addresses[Number(index)] ?? '').toString('latin1');
    if (kind === 'moved') return response.writeHead(307, { location: target }).end();
    if (kind === 'refresh')
      return response.writeHead(200, { 'content-type': 'text/html', refresh: `0;url=${target}` }).end('x');
    response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<iframe src="${target}"></iframe><img src="${target}">`);
  });
  const origin = deployment.originOf(guide.port);
  const failures: string[] = [];
  let [marked, done, visitors, count] = [0, 0, 0, 0];
  await deployment.withService({ canary, sources: [guide.port], size: 2 }, async (service) => {
    const names = Object.keys(tools);
    // A sandbox has a Runtime API only while it runs, and only then is its address known.
    await Promise.all(
      names.map((app) => service.ask({ app, infile: 'http://0.0.0.0/', outfile: outfileOf(app) })),
    );
    const own = names.flatMap((app) => service.runtimeApis(app));
    const reachable = [...places, ...own.flatMap(withSpellings)].map((place) => `http://${place}${PATH}`);
    addresses.push(...reachable.filter((address) => URL.canParse(address)));
    const ways = addresses.flatMap((address, index) => [
      address,
      ...['moved', 'refresh', 'frame'].map((kind) => `${origin}/${kind}/${index}`),
    ]);
    const calls = names.flatMap((app) => ways.map((infile) => ({ app, infile })));
    const step = amount(effort, 3, { all: 1 });
    const chosen = calls.filter((_, index) => index % step === 0);
    count = chosen.length;
    await inParallel(chosen, 8, async ({ app, infile }, index) => {
      const answer = await service.ask({ app, infile, outfile: `${index}${outfileOf(app)}` });
      if (answer.code === 'INTERNAL') failures.push(`${app} from ${infile}: ${answer.body}`);
      const shown = await Promise.all(answer.results.map((address) => service.fetchResult(address)));
      if ([answer.body, ...shown].some((each) => each.includes(MARKER))) marked += 1;
      progress(++done, count);
    });
    visitors = service.visitors();
  });
  const { runtime, tcp } = wires.hits();
  if (visitors > 0) failures.push(`${visitors} connections to the Runtime API of a sandbox`);
  await Promise.all([wires.close(), guide.close()]);
  if (tcp > 0) failures.push(`${tcp} connections`, ...new Set(wires.asked));
  if (marked > 0) failures.push(`its marker is in ${marked} outputs`);
  return { figure: `${count} ways, ${runtime + visitors} / ${marked}`, failures };
}
