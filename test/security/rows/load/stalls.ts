import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { inParallel } from '../../../../layers/parallel.ts';
import { slowChain } from '../../../helpers/certificate.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { costlyBodies, KEYLESS_PATHS, postParts } from '../../attacks/keyless.ts';
import { postLongQueries, postWaitingFiles } from '../../attacks/waiting.ts';
import { MAX_DELAY } from '../../neighbor/heartbeat.ts';
import { type SharedService, withSharedService } from '../../neighbor/service.ts';
import { judge } from '../../neighbor/verdict.ts';
import { SHORT_FORM_DELAY } from '../../neighbor/watch.ts';
import type { Row } from '../../row.ts';

/** Certificates that OpenSSL accepts at most in a chain, without the one of the authority. */
const CHAIN = 99;

const certificateChain: Row = {
  name: 'certificate-chain',
  title: 'TLS servers with 99 slow certificates',
  figures: 'slowest request of another account',
  target: `≤ ${MAX_DELAY} ms, none failed`,
  async run({ times }) {
    const source = createServer(slowChain(CHAIN), (_request, response) => response.end());
    source.listen(0, '127.0.0.1');
    await once(source, 'listening');
    const { port } = source.address() as AddressInfo;
    const reached = await withSharedService({ sources: [port] }, async (service) => {
      await service.heartbeat.reset();
      await inParallel([...Array(times(60, 4)).keys()], 20, (index) =>
        service.attacker.ask({
          app: 'imageproc',
          infile: `https://127.0.0.1:${port}/${index}`,
          outfile: 'x.png',
        }),
      );
      return judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
    });
    source.closeAllConnections();
    source.close();
    return reached;
  },
};

const KEYLESS_CONNECTIONS = 64;
/** How long bodies are left waiting, in milliseconds. */
const WAITING_TIME = 8000;

type Times = Parameters<Row['run']>[0]['times'];

/** A row whose attack may not delay a second account, and downloads nothing. */
function stall(
  name: string,
  title: string,
  attack: (service: SharedService, times: Times) => Promise<unknown>,
): Row {
  return {
    name,
    title,
    figures: 'slowest request of another account',
    target: `≤ ${MAX_DELAY} ms, none failed`,
    run: ({ times }) =>
      withSharedService({ sources: [] }, async (service) => {
        await service.heartbeat.reset();
        await attack(service, times);
        return judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      }),
  };
}

const keyless = stall('keyless', 'costly requests without a key, on 64 connections', ({ port }, times) =>
  inParallel([...Array(times(4000, 200)).keys()], KEYLESS_CONNECTIONS, async (index) => {
    const response = await fetch(`http://127.0.0.1:${port}${KEYLESS_PATHS[index % KEYLESS_PATHS.length]!}`);
    await response.text();
  }),
);

const multipart = stall('multipart', 'costly multipart bodies without a key', ({ port }, times) => {
  const bodies = costlyBodies();
  return inParallel([...Array(times(1000, 60)).keys()], KEYLESS_CONNECTIONS, (index) =>
    postParts(port, bodies[index % bodies.length]!),
  );
});

const SMALL_FILE = '--b\r\nContent-Disposition: form-data; name="infile"; filename="a.html"\r\n\r\n<p>\r\n';

const multipartKey = stall(
  'multipart-key',
  'costly multipart bodies of an account, after a small file',
  ({ port, attacker }, times) => {
    const bodies = costlyBodies(SMALL_FILE);
    const query = `?app=html2pdf&outfile=a.pdf&apikey=${attacker.apiKey}`;
    return inParallel([...Array(times(1000, 60)).keys()], KEYLESS_CONNECTIONS, (index) =>
      postParts(port, bodies[index % bodies.length]!, query),
    );
  },
);

const waitingBodies = stall(
  'waiting-bodies',
  'bodies that wait behind long queries or small files',
  async ({ port, attacker }, times) => {
    const sockets = [
      ...postWaitingFiles(port, attacker.apiKey, times(20, 4)),
      ...(await postLongQueries(port, times(1000, 100))),
    ];
    await setTimeout(times(WAITING_TIME, 1000));
    for (const socket of sockets) socket.destroy();
  },
);

/** Replaces the data directory by a copy on a disk of 64 MB, which only the command sees. */
const ON_SMALL_DISK = [
  'unshare',
  '--user',
  '--map-root-user',
  '--mount',
  'sh',
  '-c',
  'cp -a "$DATA_DIR" "$DATA_DIR.old" && mount -t tmpfs -o size=64m tmpfs "$DATA_DIR" && cp -a "$DATA_DIR.old/." "$DATA_DIR" && exec "$@"',
  'sh',
];
/** Results of 3 MB. Not all of them fit. */
const RESULTS = 40;

const fullDisk: Row = {
  name: 'full-disk',
  title: 'an account that fills a small disk',
  figures: 'calls of another account that failed, with the default share; without a limit',
  target: 'none; none but with `OVERLOADED`',
  async run({ times }) {
    const noise = { type: 'gaussian', mean: 128, sigma: 60 } as const;
    const picture = await sharp({
      create: { width: 1000, height: 1000, channels: 3, background: 'gray', noise },
    })
      .png()
      .toBuffer();
    const source = await serveHttp((_request, response) => response.end(picture));
    const shared = { sources: [source.port], as: { command: ON_SMALL_DISK, user: process.getuid!() } };
    const ask = (account: SharedService['attacker'], index: number) =>
      account.ask({ app: 'imageproc', infile: `${source.origin}/${index}`, outfile: 'x.png' });
    const fill = async (service: SharedService) => {
      const codes: Array<string | undefined> = [];
      for (let index = 0; index < times(RESULTS, 8); index++)
        codes.push((await ask(service.attacker, index)).code);
      return codes;
    };

    const fair = await withSharedService(shared, async (service) => {
      await service.heartbeat.reset();
      const codes = await fill(service);
      const { code, body } = await ask(service.neighbor, 0);
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      const failures = code === undefined ? [] : [body.slice(0, 120)];
      if (times(1, 0) === 1 && codes.at(-1) !== 'QUOTA_EXCEEDED')
        failures.push(`the attacker got ${codes.at(-1)}`);
      return { ...verdict, failures: [...failures, ...verdict.failures] };
    });
    const settings = { ...shared, environment: { ACCOUNT_STORAGE: '0' } };
    const others = await withSharedService(settings, async (service) => {
      const codes = await fill(service);
      for (let index = 0; index < 10; index++) codes.push((await ask(service.neighbor, index)).code);
      const health = await fetch(`http://127.0.0.1:${service.port}/api/health`);
      const wrong = codes.filter((code) => code !== undefined && code !== 'OVERLOADED');
      if (times(1, 0) === 1 && (codes.at(-1) !== 'OVERLOADED' || health.status !== 503))
        wrong.push(`${codes.at(-1)}, and health was ${health.status}`);
      return wrong;
    });
    await source.close();
    const failures = [...fair.failures, ...others.map((code) => `without a limit: ${code}`)];
    return { ...fair, figure: `${fair.figure}; ${others.length}`, failures };
  },
};

/** Rows about what once stalled the service for all accounts. */
export const stallRows: readonly Row[] = [
  certificateChain,
  keyless,
  multipart,
  multipartKey,
  waitingBodies,
  fullDisk,
];
