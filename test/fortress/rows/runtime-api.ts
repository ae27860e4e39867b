import * as tools from '../../../functions/tools.ts';
import { spellingsOfV4 } from '../../functions/shared/address-spellings.ts';
import { serveHttp } from '../../functions/shared/fault-server.ts';
import { celled } from '../cell.ts';
import { type Effort, inParallel, type Reached } from '../row.ts';
import { withService } from '../service.ts';
import { layTripwires, MARKER } from '../tripwires.ts';

/** One GET there would steal the next caller's event: every tool is sent there, straight and by redirects. */
export const runtimeApi = celled(
  {
    name: 'runtime-api',
    title:
      'ways to the Runtime API (127.0.0.1:9001, 169.254.100.1:9001) through every tool: requests it saw / marker in an output',
    target: 'none, 0 / 0',
  },
  import.meta.url,
);

const PATH = '/2018-06-01/runtime/invocation/next';
const OUTFILES: Readonly<Record<string, string>> = { html2pdf: 'x.pdf', doc2any: 'x.pdf' };

export async function inside({ times, progress, canary }: Effort): Promise<Reached> {
  const wires = await layTripwires();
  const hosts = ['127.0.0.1', '169.254.100.1']
    .flatMap(spellingsOfV4)
    .filter((host) => !/\]?:\d+$/.test(host));
  const places = [...hosts, 'localhost', 'localhost.', '[::1]', '[::]', '0.0.0.0'];
  const addresses = places
    .map((host) => `http://${host}:9001${PATH}`)
    .filter((address) => URL.canParse(address));
  // What a source that may be reached says of where the real one is.
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
  const ways = addresses.flatMap((address, index) => [
    address,
    ...['moved', 'refresh', 'frame'].map((kind) => `${guide.origin}/${kind}/${index}`),
  ]);
  const calls = Object.keys(tools).flatMap((app) => ways.map((infile) => ({ app, infile })));
  const step = times(1, 13);
  const chosen = calls.filter((_, index) => index % step === 0);
  const failures: string[] = [];
  let [marked, done] = [0, 0];
  const settings = { canary, allowSources: [`127.0.0.1:${guide.port}`], size: 2 };
  await withService(settings, (fort) =>
    inParallel(chosen, 8, async ({ app, infile }, index) => {
      const answer = await fort.ask({ app, infile, outfile: `${index}${OUTFILES[app] ?? 'x.png'}` });
      if (answer.code === 'INTERNAL') failures.push(`${app} from ${infile}: ${answer.body}`);
      const shown = await Promise.all(answer.results.map((address) => fort.fetchResult(address)));
      if ([answer.body, ...shown].some((each) => each.includes(MARKER))) marked += 1;
      progress(++done, chosen.length);
    }),
  );
  const { runtime, tcp } = wires.hits();
  await Promise.all([wires.close(), guide.close()]);
  if (tcp > 0) failures.push(`${tcp} connections`, ...new Set(wires.asked));
  if (marked > 0) failures.push(`its marker is in ${marked} outputs`);
  return { figure: `${chosen.length} ways, ${runtime} / ${marked}`, failures };
}
