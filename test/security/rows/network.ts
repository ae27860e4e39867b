import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEgressGuard } from '../../../functions/shared/egress/guard.ts';
import { downloadSource } from '../../../functions/shared/source/download.ts';
import { inParallel } from '../../../layers/build/command.ts';
import {
  FORBIDDEN_V4,
  FORBIDDEN_V6,
  PUBLIC_ADDRESSES,
  spellingsOfV4,
} from '../../fixtures/address-spellings.ts';
import { type DnsServer, serveDns } from '../../helpers/dns-server.ts';
import { serveHttp } from '../../helpers/fault-server.ts';
import type { AttackedService } from '../deployment/deployment.ts';
import { contacted, lambdaEmulator } from '../deployment/emulator.ts';
import { inOwnNamespace } from '../namespace/run.ts';
import { amount, type Effort, type Reached, type Row } from '../row.ts';

/** Every spelling is checked by the guard that the downloader and the browser's proxy share. */
export const addresses: Row = {
  name: 'addresses',
  title: 'spellings of blocked addresses',
  figures: 'blocked / public addresses allowed',
  target: '≥ 400 / ≥ 40, all',
  async run() {
    const spellings = [
      ...FORBIDDEN_V4.flatMap(spellingsOfV4),
      ...FORBIDDEN_V6.flatMap((address) => [
        `[${address}]`,
        `[${address.toUpperCase()}]`,
        `[${address}]:443`,
      ]),
    ];
    const hosts = PUBLIC_ADDRESSES.map((address) => (address.includes(':') ? `[${address}]` : address));
    // An unknown name would be rejected too, so every name resolves to a public address here.
    const egress = createEgressGuard({ resolve: async () => ['8.8.8.8'] });
    const outcome = (host: string) =>
      egress.check(`http://${host}/`).then(
        () => 'reached',
        (error: { code: string }) => error.code,
      );
    const refused = await Promise.all(spellings.map(outcome));
    const allowed = await Promise.all(hosts.map(outcome));

    const refusals = refused.filter((code) => code === 'BLOCKED_ADDRESS' || code === 'BAD_ADDRESS');
    const passes = allowed.filter((code) => code === 'reached');
    return {
      figure: `${refusals.length} of ${spellings.length} / ${passes.length} of ${hosts.length}`,
      failures: [
        ...(spellings.length < 400 || hosts.length < 40 ? ['too few spellings'] : []),
        ...spellings.filter((_, index) => refused[index] === 'reached'),
        ...hosts.filter((_, index) => allowed[index] !== 'reached'),
      ],
    };
  },
};

/** A public address that nobody uses: a connection times out or fails immediately. */
const PUBLIC = '192.0.3.1';
const LOOPBACK = '127.0.0.1';

/** Each name resolves to a public address when it is checked, and to 127.0.0.1 on the next lookup. */
export const downloadRebinding: Row = {
  name: 'rebinding',
  title: 'DNS rebinding during a download',
  figures: 'connections to the blocked address',
  target: '1000 alternations, 0 hits',
  async run(effort) {
    const rounds = amount(effort, 1000, { short: 50 });
    const prize = await serveHttp((_request, response) => response.end('secret'));
    const dns = await serveDns((_name, asked) => (asked % 2 === 0 ? PUBLIC : LOOPBACK));
    const directory = await mkdtemp(join(tmpdir(), 'rebinding-'));
    const egress = createEgressGuard({ resolve: dns.resolve, resolveTime: 30_000, ports: [prize.port] });
    const failures: string[] = [];
    try {
      const fetched = async (name: string) =>
        downloadSource(`http://${name}:${prize.port}/`, {
          directory,
          egress,
          limits: { sourceBytes: 1000 },
          signal: new AbortController().signal,
          // Long enough to connect to loopback, which takes far less than one millisecond.
          budgets: { connect: 30 },
        }).then(
          () => 'reached',
          (error: { code: string }) => error.code,
        );
      await inParallel([...Array(rounds).keys()], 50, async (round) => {
        const name = `r${round}.example`;
        const codes = [await fetched(name), await fetched(name)];
        if (!/^SOURCE_/.test(codes[0]!) || codes[1] !== 'BLOCKED_ADDRESS')
          failures.push(`${name}: ${codes.join(', ')}`);
        effort.progress(round + 1, rounds);
      });

      const asked = dns.questions();
      const hits = prize.connections();
      if (asked !== 2 * rounds) failures.push(`${asked} questions for ${rounds} alternations`);
      if (hits > 0) failures.push(`${hits} hits`);
      await checkThenDial('control.example', prize.port, dns);
      if (prize.connections() === hits) failures.push('a downloader that resolves twice was not hit either');
      return { figure: `${rounds} alternations, ${hits} hits`, failures };
    } finally {
      dns.close();
      await prize.close();
      await rm(directory, { recursive: true });
    }
  },
};

/** Downloads carelessly: checks the IP address, then connects through a second lookup. */
async function checkThenDial(name: string, port: number, dns: DnsServer): Promise<void> {
  await dns.resolve(name);
  await new Promise<void>((resolve) => {
    const lookup = (
      host: string,
      _options: unknown,
      done: (error: null, answers: { address: string; family: number }[]) => void,
    ) => {
      dns.resolve(host).then((found) => done(null, [{ address: found[0]!, family: 4 }]));
    };
    request({ host: name, port, lookup: lookup as never, agent: false })
      .on('error', () => resolve())
      .on('response', (response) => response.resume().on('end', resolve))
      .end();
  });
}

/** Frames that read from their own host repeatedly while its name changes to 127.0.0.1. */
export const browserRebinding = inOwnNamespace(
  {
    name: 'browser-rebinding',
    title: 'DNS rebinding in a browser',
    figures: 'connections to the blocked address',
    target: '200 alternations, 0 hits',
  },
  rebindFrames,
);

const NAMES_A_PAGE = 25;

const FRAME = `<!doctype html><script>
const read = (left) => left && fetch('/again?' + left, { cache: 'no-store' }).then(() => read(left - 1), () => read(left - 1));
read(4);
</script>`;

async function rebindFrames(effort: Effort): Promise<Reached> {
  const { progress, canary, deployment } = effort;
  const names = amount(effort, 200, { short: NAMES_A_PAGE });
  const failures: string[] = [];
  const arrived = { public: 0, loopback: 0 };
  // In the network namespace every address is local. The address of a connection shows what the name resolved to.
  const site = await serveHttp((request, response) => {
    const { localAddress } = request.socket;
    arrived[localAddress === PUBLIC ? 'public' : 'loopback'] += 1;
    response.setHeader('content-type', 'text/html');
    // The next request needs a new connection.
    response.setHeader('connection', 'close');
    response.end(FRAME);
  }, '0.0.0.0');
  const top = await serveHttp((request, response) => {
    const first = Number(request.url?.slice(1));
    const frames = Array.from({ length: NAMES_A_PAGE }, (_, place) => {
      return `<iframe width=9 height=9 src="http://r${first + place}.example:${site.port}/"></iframe>`;
    });
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html>${frames.join('')}`);
  });
  const dns = await serveDns((_name, asked) => (asked % 2 === 0 ? PUBLIC : LOOPBACK));
  const rules = {
    canary,
    sources: [top.port],
    ports: [site.port],
    resolve: dns.resolve,
    time: amount(effort, 30_000, { short: 90_000 }),
  };
  const browser = await deployment.attackBrowser('html2image', rules);

  const pages = Array.from({ length: names / NAMES_A_PAGE }, (_, page) => page * NAMES_A_PAGE);
  // Each page twice: in the second conversion every name resolves to loopback from the first lookup on.
  for (const [done, first] of [...pages, ...pages].entries()) {
    const result = await browser.convert(`${top.origin}/${first}`);
    if (typeof result === 'string') failures.push(`page ${first}: ${result}`);
    progress(done + 1, 2 * pages.length);
  }
  const alternations = dns.questions() / 2;
  await Promise.all([browser, site, top].map((each) => each.close()));
  dns.close();

  if (alternations !== names) failures.push(`${alternations} alternations for ${names} names`);
  if (arrived.public < names) failures.push(`only ${arrived.public} requests reached the public address`);
  if (arrived.loopback > 0) failures.push(`${arrived.loopback} requests reached loopback`);
  return { figure: `${alternations} alternations, ${arrived.loopback} hits`, failures };
}

/** One half of the attack. Names are `<n>.example`, each of which must be looked up twice. */
interface Half {
  readonly names: number;
  /** Converts until every name was looked up twice. Returns what went wrong. */
  attack(service: AttackedService, origin: string): Promise<string[]>;
}

/** The sandbox itself looks up each name, with the C library's resolver and the test's name server. */
export const emulatorDownloadRebinding: Row = {
  ...downloadRebinding,
  run: ({ progress, canary }) => {
    const names = 1000;
    const attack = async (service: AttackedService) => {
      const failures: string[] = [];
      let done = 0;
      await inParallel([...Array(names).keys()], 4, async (name) => {
        const infile = `http://${name}.example/`;
        const ask = async () =>
          (await service.ask({ app: 'imageproc', infile, outfile: `${name}.png` })).code;
        const codes = [await ask(), await ask()];
        if (codes.join() !== 'UNSUPPORTED_SOURCE,BLOCKED_ADDRESS') failures.push(`${name}: ${codes}`);
        progress(++done, names);
      });
      return failures;
    };
    return rebind(canary, { names, attack });
  },
};

/** Frames of one page. In the second conversion every name resolves to loopback from the first lookup on. */
export const emulatorBrowserRebinding: Row = {
  ...browserRebinding,
  run: ({ progress, canary }) => {
    const names = 200;
    const attack = async (service: AttackedService, origin: string) => {
      const failures: string[] = [];
      const pages = Array.from({ length: names / NAMES_A_PAGE }, (_, page) => page * NAMES_A_PAGE);
      for (const [done, first] of [...pages, ...pages].entries()) {
        const query = { app: 'html2image', infile: `${origin}/page/${first}`, outfile: `${done}.png` };
        const { results, body } = await service.ask(query);
        if (results.length !== 1) failures.push(body);
        progress(done + 1, 2 * pages.length);
      }
      return failures;
    };
    return rebind(canary, { names, attack });
  },
};

async function rebind(canary: Effort['canary'], { names, attack }: Half): Promise<Reached> {
  let arrived = 0;
  const site = await serveHttp((request, response) => {
    const first = /^\/page\/(\d+)$/.exec(request.url ?? '')?.[1];
    if (first === undefined && /\.example$/.test(request.headers.host ?? '')) arrived += 1;
    // The next request needs a new connection.
    response.writeHead(200, { 'content-type': 'text/html', connection: 'close' });
    response.end(first === undefined ? FRAME : pageOf(Number(first)));
  });
  const origin = lambdaEmulator.originOf(site.port);
  const place = new URL(origin).hostname;
  const dns = await serveDns((_name, asked) => (asked % 2 === 0 ? place : '127.0.0.1'), { port: 53 });
  const before = contacted.length;
  try {
    const failures = await lambdaEmulator.withService({ canary, sources: [site.port] }, (service) =>
      attack(service, origin),
    );
    const alternations = dns.questions() / 2;
    const hits = contacted.length - before;
    if (alternations !== names) failures.push(`${alternations} alternations for ${names} names`);
    if (arrived < names) failures.push(`only ${arrived} requests reached the public address`);
    if (hits > 0) failures.push(`${hits} connections to ${new Set(contacted.slice(before))}`);
    return { figure: `${alternations} alternations, ${hits} hits`, failures };
  } finally {
    dns.close();
    await site.close();
  }
}

function pageOf(first: number): string {
  const frames = Array.from({ length: NAMES_A_PAGE }, (_, place) => {
    return `<iframe width=9 height=9 src="http://${first + place}.example/"></iframe>`;
  });
  return `<!doctype html>${frames.join('')}`;
}
