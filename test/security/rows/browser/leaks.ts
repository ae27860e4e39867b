import { inParallel } from '../../../../layers/build/command.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { VECTORS } from '../../attacks/browser-vectors.ts';
import { inOwnNamespace } from '../../namespace/run.ts';
import { MARKER, PRIZE_PORT, RUNTIME_PORT } from '../../namespace/tripwires.ts';
import { amount, type Effort, type Reached } from '../../row.ts';

/** Pages try to reach the secrets of a machine in every way that a browser offers. */
export const browserLeaks = inOwnNamespace(
  {
    name: 'browser-leaks',
    title: 'browser leak vectors',
    figures: 'hits by TCP / UDP / DNS',
    target: '≥ 40, 0 / 0 / 0',
  },
  import.meta.url,
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

export async function inside(effort: Effort): Promise<Reached> {
  const { progress, canary, deployment } = effort;
  const wires = await deployment.layTripwires();
  const seen = new Set<number>();
  let hold = HOLD;
  const open = await serveHttp((request, response) => {
    seen.add(Number(/^\/(\d+)/.exec(request.url ?? '')?.[1]));
    response.setHeader('access-control-allow-origin', '*');
    response.end('open');
  });
  const pages = await serveHttp((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://page');
    const [index, host] = [Number(pathname.slice(1)), searchParams.get('to') ?? ''];
    if (pathname === '/held') return void setTimeout(() => response.end(), hold);
    const vector = VECTORS[index];
    const url = `http://${host}/${index}`;
    if (vector?.redirects) return response.writeHead(302, { location: url }).end();
    response.writeHead(vector ? 200 : 404, { 'content-type': 'text/html', ...vector?.headers?.(url) });
    response.end(vector?.page(url, `${host}`) ?? '');
  });
  const origin = deployment.originOf(pages.port);
  const rules = {
    canary,
    sources: [pages.port, open.port],
    ports: [80, 443, PRIZE_PORT, RUNTIME_PORT],
    resolve: async (host: string) => [host === NAME ? '127.0.0.1' : '192.0.3.1'],
  };
  const tools = await Promise.all(
    (['html2image', 'html2pdf'] as const).map((name) => deployment.attackBrowser(name, rules)),
  );
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
    const text = typeof result === 'string' ? result : result.toString('latin1');
    if (/Error/.test(text.slice(0, 20)) || text.includes(MARKER))
      failures.push(`${VECTORS[vector]!.name} to ${target}: ${text.slice(0, 200)}`);
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
