import { inParallel } from '../../../../layers/build/command.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { VECTORS } from '../../attacks/browser-vectors.ts';
import { inOwnNamespace } from '../../namespace/run.ts';
import { MARKER, PRIZE_PORT, RUNTIME_PORT } from '../../namespace/tripwires.ts';
import type { Effort, Reached } from '../../row.ts';

/** Uploaded pages try to reach anything, also what a page behind a URL may reach. */
export const uploadedLeaks = inOwnNamespace(
  {
    name: 'uploaded-leaks',
    title: 'leak vectors of an uploaded page',
    figures: 'hits by TCP / UDP / DNS / of a public server',
    target: '≥ 40, 0 / 0 / 0 / 0',
  },
  import.meta.url,
);

/** Attempts of a page that may reach the public server. It may end before its request is sent. */
const ATTEMPTS = 6;
const TARGETS = [
  `127.0.0.1:${PRIZE_PORT}`,
  `169.254.100.1:${RUNTIME_PORT}`,
  `[::1]:${PRIZE_PORT}`,
  '169.254.169.254:80',
  'outside.example',
];

export async function inside({ progress, canary, deployment }: Effort): Promise<Reached> {
  const wires = await deployment.layTripwires();
  const seen = new Set<number>();
  const open = await serveHttp((request, response) => {
    seen.add(Number(/^\/(\d+)/.exec(request.url ?? '')?.[1]));
    response.setHeader('access-control-allow-origin', '*');
    response.end('open');
  });
  const pages = await serveHttp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://page');
    const [index, host] = [Number(pathname.slice(1)), searchParams.get('to') ?? ''];
    response.setHeader('content-type', 'text/html');
    response.end(VECTORS[index]!.page(`http://${host}/${index}`, host));
  });
  const rules = { canary, sources: [pages.port, open.port], ports: [80, 443, PRIZE_PORT, RUNTIME_PORT] };
  const tools = await Promise.all(
    (['html2image', 'html2pdf'] as const).map((name) => deployment.attackBrowser(name, rules)),
  );
  const convert = (vector: number, host: string, index: number, hasNetwork: boolean) =>
    tools[index % tools.length]!.upload!(`${pages.origin}/${vector}?to=${host}`, hasNetwork);

  const allowed = new URL(open.origin).host;
  const hosts = [allowed, ...TARGETS];
  // An upload has no headers of its own.
  const vectors = [...VECTORS.keys()].filter(
    (vector) => !VECTORS[vector]!.redirects && !VECTORS[vector]!.headers,
  );
  const attacks = vectors.flatMap((vector) => hosts.map((host) => ({ vector, host })));
  const failures: string[] = [];
  let done = 0;
  await inParallel(attacks, 3, async ({ vector, host }, index) => {
    const result = await convert(vector, host, index, false).catch(String);
    const text = typeof result === 'string' ? result : result.toString('latin1');
    if (/Error/.test(text.slice(0, 20)) || text.includes(MARKER))
      failures.push(`${VECTORS[vector]!.name} to ${host}: ${text.slice(0, 200)}`);
    progress(++done, attacks.length);
  });
  const { tcp, udp, dns } = wires.hits();
  if (tcp + udp + dns > 0) failures.push(`${tcp} connections, ${udp} datagrams`, ...new Set(wires.asked));
  failures.push(...[...seen].map((vector) => `${VECTORS[vector]?.name} reached a public server`));
  const reached = seen.size;
  seen.clear();

  // The same pages reach it where they may, or the attacks above would show nothing.
  const controls = vectors.filter((vector) => !VECTORS[vector]!.unseen && !VECTORS[vector]!.secure);
  for (let round = 0; round < ATTEMPTS; round++) {
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
