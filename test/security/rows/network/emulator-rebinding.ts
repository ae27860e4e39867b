import { inParallel } from '../../../../layers/build/command.ts';
import { serveDns } from '../../../helpers/dns-server.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import type { AttackedService } from '../../deployment/deployment.ts';
import { contacted, lambdaEmulator } from '../../deployment/lambda-emulator.ts';
import type { Effort, Reached, Row } from '../../row.ts';
import { browserRebinding } from '../browser/rebinding.ts';
import { downloadRebinding } from './rebinding.ts';

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

const NAMES_A_PAGE = 25;

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

const FRAME = `<!doctype html><script>
const read = (left) => left && fetch('/again?' + left, { cache: 'no-store' }).then(() => read(left - 1), () => read(left - 1));
read(4);
</script>`;

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
