import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { chromiumFlags } from '../../../functions/engines/chromium/browser/flags.ts';
import { inParallel } from '../../../layers/build/command.ts';
import { serveHttp } from '../../helpers/fault-server.ts';
import { LAYERS } from '../../lab/engine.ts';
import { HELPERS, HOSTILE_PAGES } from '../attacks/hostile-pages.ts';
import { inOwnNamespace, PRIZE_PORT, RUNTIME_PORT } from '../namespace/run.ts';
import type { Effort, Reached, Row } from '../row.ts';

/** Each conversion's page has a context with its own proxy. This row checks the protection outside of such contexts. */
export const browserFlags = inOwnNamespace(
  {
    name: 'browser-flags',
    title: 'browser requests outside of all contexts',
    figures: 'hits by TCP; name look-ups, QUIC and WebRTC datagrams without a proxy',
    target: '0; 0, 0, 0',
  },
  browseWithoutContexts,
);

/** Timeout in milliseconds of a page that neither loads nor fails. */
const PAGE_TIMEOUT = 60_000;

const PLACES = [`127.0.0.1:${PRIZE_PORT}`, `169.254.100.1:${RUNTIME_PORT}`];
const NAMED_PLACE = 'flags.example';
const QUIC_PLACE = '127.0.0.1:443';
const QUIC = [`--origin-to-force-quic-on=${QUIC_PLACE}`, '--ignore-certificate-errors'];

/** Asks a server for the browser's own address, as calls between browsers do. Ends when every interface has been tried. */
const WEBRTC = `new Promise((resolve) => {
  const connection = new RTCPeerConnection({ iceServers: [{ urls: 'stun:169.254.100.1:3478' }] });
  connection.createDataChannel('x');
  connection.onicegatheringstatechange = () => connection.iceGatheringState === 'complete' && resolve();
  connection.createOffer().then((offer) => connection.setLocalDescription(offer));
  setTimeout(resolve, 5000);
})`;

async function browseWithoutContexts({ deployment }: Effort): Promise<Reached> {
  const wires = await deployment.layTripwires();
  const failures: string[] = [];
  const flags = chromiumFlags({ profile: 'profile', sandbox: false, processes: 'started' });
  const without = (...names: RegExp[]) => flags.filter((flag) => !names.some((name) => name.test(flag)));

  for (const place of PLACES) await browse(flags, `http://${place}/`);
  const { tcp } = wires.hits();
  if (tcp > 0) failures.push(`${tcp} connections`, ...new Set(wires.asked));
  for (const place of PLACES) await browse(without(/^--proxy/), `http://${place}/`);
  if (wires.hits().tcp === tcp) failures.push('nothing was reached without the proxy either');

  const { dns } = wires.hits();
  await browse(without(/^--proxy/), `http://${NAMED_PLACE}/`);
  const lookUps = wires.hits().dns - dns;
  if (lookUps > 0) failures.push(`${lookUps} look-ups`);
  await browse(without(/^--proxy/, /resolver/), `http://${NAMED_PLACE}/`);
  if (wires.hits().dns === dns + lookUps) failures.push('no name was looked up without the rule either');

  const before = wires.hits().udp;
  await browse([...without(/^--proxy/), ...QUIC], `https://${QUIC_PLACE}/`);
  const datagrams = wires.hits().udp - before;
  if (datagrams > 0) failures.push(`${datagrams} datagrams`);
  await browse([...without(/^--proxy/, /quic/), ...QUIC], `https://${QUIC_PLACE}/`);
  if (wires.hits().udp === before + datagrams)
    failures.push('no QUIC datagrams were sent without the rule either');

  const sent = wires.hits().udp;
  await browse(without(/^--proxy/), 'about:blank', WEBRTC);
  const probes = wires.hits().udp - sent;
  if (probes > 0) failures.push(`${probes} datagrams of WebRTC`);
  await browse(without(/^--proxy/, /webrtc/), 'about:blank', WEBRTC);
  if (wires.hits().udp === sent + probes)
    failures.push('no WebRTC datagrams were sent without the rule either');

  await wires.close();
  return { figure: `${tcp}; ${lookUps}, ${datagrams}, ${probes}`, failures };
}

/**
 * Lets a separate browser load a URL outside of the service's contexts, until it has loaded or failed, then run a script until its
 * promise resolves.
 */
async function browse(flags: readonly string[], address: string, script = ''): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'flags-'));
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: home,
    TMPDIR: home,
    LD_LIBRARY_PATH: join(LAYERS, 'chromium/lib'),
  };
  const browser = spawn(join(LAYERS, 'chromium/chromium'), flags, {
    cwd: home,
    env,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const ended = once(browser, 'exit');
  const timer = setTimeout(() => browser.kill('SIGKILL'), PAGE_TIMEOUT);
  const call = callsOf(browser.stdio[3] as Writable, browser.stdio[4] as Readable);
  const visit = async () => {
    const { targetId } = await call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await call('Target.attachToTarget', { targetId, flatten: true });
    await call('Page.navigate', { url: address }, sessionId);
    if (script) await call('Runtime.evaluate', { expression: script, awaitPromise: true }, sessionId);
  };
  await Promise.race([visit(), ended]);
  clearTimeout(timer);
  browser.kill('SIGKILL');
  await ended;
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
}

type Reply = Readonly<Record<string, string>>;

/** Sends calls of the debugging protocol, one at a time. */
function callsOf(input: Writable, output: Readable) {
  let id = 0;
  let rest = '';
  return (method: string, params: object, sessionId?: string): Promise<Reply> =>
    new Promise((resolve) => {
      id += 1;
      const read = (text: string) => {
        const messages = (rest + text).split('\0');
        rest = messages.pop() ?? '';
        const reply = messages.map((message) => JSON.parse(message)).find((message) => message.id === id);
        if (!reply) return;
        output.off('data', read);
        resolve(reply.result ?? {});
      };
      output.setEncoding('utf8').on('data', read);
      input.write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    });
}

/** Timeout for a hostile page in milliseconds, and additional time for its end. */
const [DEADLINE, GRACE] = [10_000, 2000];
/** Timeout for the next page, where the deployment supports that. */
const PLAIN_TIME = 60_000;

/** Each page goes to a warm browser that then gets a plain page, which must be converted correctly. */
export const hostilePages: Row = {
  name: 'hostile-pages',
  title: 'hostile pages',
  figures: 'no response before the deadline / next job failed',
  target: '≥ 30, 0 / 0',
  async run({ progress, canary, deployment }) {
    const names = Object.keys(HOSTILE_PAGES);
    const server = await serveHttp((request, response) => {
      const path = decodeURIComponent(request.url?.split('?')[0] ?? '');
      const page = HELPERS[path] ?? HOSTILE_PAGES[path.slice(1)];
      if (typeof page === 'function') return page(response);
      response.writeHead(page === undefined ? 404 : 200, { 'content-type': 'text/html' });
      response.end(page ?? '');
    });
    const origin = deployment.originOf(server.port);
    const late: string[] = [];
    const spoilt: string[] = [];
    let done = 0;
    const tools = ['html2image', 'html2pdf'] as const;
    await inParallel(tools, 2, async (tool) => {
      const browser = await deployment.attackBrowser(tool, {
        canary,
        sources: [server.port],
        time: DEADLINE,
      });
      for (const name of names) {
        const started = Date.now();
        const result = await browser
          .convert(`${origin}/${encodeURIComponent(name)}`)
          .catch((thrown: unknown) => new Error(String(thrown), { cause: thrown }));
        const time = Date.now() - started;
        if (result instanceof Error) late.push(`${tool}, ${name}: ${result.message}`);
        if (time > DEADLINE + GRACE) late.push(`${tool}, ${name}: ${time} ms`);

        const next = await browser.convert(`${origin}/plain`, PLAIN_TIME).catch(String);
        if (typeof next === 'string') spoilt.push(`${tool}, after ${name}: ${next}`);
        progress(++done, tools.length * names.length);
      }
      await browser.close();
    });
    await server.close();
    return {
      figure: `${names.length} × 2, ${late.length} / ${spoilt.length}`,
      failures: [...late, ...spoilt],
    };
  },
};
