import { serveDns } from '../../../helpers/dns-server.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { inOwnNamespace } from '../../namespace/run.ts';
import { amount, type Effort, type Reached } from '../../row.ts';

/** Frames that read from their own host repeatedly while its name changes to 127.0.0.1. */
export const browserRebinding = inOwnNamespace(
  {
    name: 'browser-rebinding',
    title: 'DNS rebinding in a browser',
    figures: 'connections to the blocked address',
    target: '200 alternations, 0 hits',
  },
  import.meta.url,
);

const PUBLIC = '192.0.3.1';
const LOOPBACK = '127.0.0.1';
const NAMES_A_PAGE = 25;

const FRAME = `<!doctype html><script>
const read = (left) => left && fetch('/again?' + left, { cache: 'no-store' }).then(() => read(left - 1), () => read(left - 1));
read(4);
</script>`;

export async function inside(effort: Effort): Promise<Reached> {
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
