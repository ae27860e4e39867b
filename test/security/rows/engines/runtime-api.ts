import * as tools from '../../../../functions/tools.ts';
import { inParallel } from '../../../../layers/build/command.ts';
import { spellingsOfV4 } from '../../../fixtures/address-spellings.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { inOwnNamespace } from '../../namespace/run.ts';
import { MARKER } from '../../namespace/tripwires.ts';
import { amount, type Effort, type Reached } from '../../row.ts';

/** A single GET there would steal the next caller's event. Every tool is sent there, directly and by redirects. */
export const runtimeApi = inOwnNamespace(
  {
    name: 'runtime-api',
    title: 'the Runtime API as a source',
    figures: 'requests that it received / responses in an output',
    target: 'none, 0 / 0',
  },
  import.meta.url,
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

export async function inside(effort: Effort): Promise<Reached> {
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
