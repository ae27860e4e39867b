import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { costlyBodies, KEYLESS_PATHS, postParts } from '../../attacks/keyless.ts';
import { postLongQueries, postWaitingFiles } from '../../attacks/waiting.ts';
import { type SharedService, withSharedService } from '../../neighbor/service.ts';
import { MAX_DELAY } from '../../neighbor/verdict.ts';
import type { Row } from '../../row.ts';
import { neighborRow, repeat } from './neighbor-row.ts';

const KEYLESS_CONNECTIONS = 64;
/** How long bodies are left waiting, in milliseconds. */
const WAITING_TIME = 8000;

const keyless = neighborRow({
  name: 'keyless',
  title: 'costly requests without a key, on 64 connections',
  async attack({ port }) {
    await repeat(4000, KEYLESS_CONNECTIONS, async (index) => {
      const path = KEYLESS_PATHS[index % KEYLESS_PATHS.length]!;
      await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
    });
    return {};
  },
});

const manyOptions = neighborRow({
  name: 'many-options',
  title: 'a request with 10,000 unknown options',
  figures: 'status and characters of the response; slowest request of another account',
  target: '400, ≤ 10000',
  async attack({ port, attacker }) {
    const options = Array.from({ length: 10_000 }, (_, index) => `-${index}=`).join('&');
    const query = `apikey=${attacker.apiKey}&app=imageproc&${options.slice(0, 60_000)}`;
    const response = await fetch(`http://127.0.0.1:${port}/api/?${query}`);
    const { length } = await response.text();
    const figure = `${response.status}, ${length}`;
    return { figure, failures: response.status === 400 && length <= 10_000 ? [] : [figure] };
  },
});

const multipart = neighborRow({
  name: 'multipart',
  title: 'costly multipart bodies without a key',
  async attack({ port }) {
    await postBodies(port, costlyBodies());
    return {};
  },
});

const SMALL_FILE = '--b\r\nContent-Disposition: form-data; name="infile"; filename="a.html"\r\n\r\n<p>\r\n';

const multipartKey = neighborRow({
  name: 'multipart-key',
  title: 'costly multipart bodies of an account, after a small file',
  async attack({ port, attacker }) {
    await postBodies(port, costlyBodies(SMALL_FILE), `?app=html2pdf&outfile=a.pdf&apikey=${attacker.apiKey}`);
    return {};
  },
});

function postBodies(port: number, bodies: readonly Buffer[], query = ''): Promise<unknown> {
  return repeat(1000, KEYLESS_CONNECTIONS, (index) => postParts(port, bodies[index % bodies.length]!, query));
}

const waitingBodies = neighborRow({
  name: 'waiting-bodies',
  title: 'bodies that wait behind long queries or small files',
  async attack({ port, attacker }) {
    const files = postWaitingFiles(port, attacker.apiKey, 20);
    const sockets = [...files, ...(await postLongQueries(port, 1000))];
    await setTimeout(WAITING_TIME);
    for (const socket of sockets) socket.destroy();
    return {};
  },
});

/** Replaces the data directory by a copy on a disk of 64 MB, which only the command sees. */
const ON_SMALL_DISK = [
  ...['unshare', '--user', '--map-root-user', '--mount', 'sh', '-c'],
  'cp -a "$DATA_DIR" "$DATA_DIR.old" && mount -t tmpfs -o size=64m tmpfs "$DATA_DIR" && cp -a "$DATA_DIR.old/." "$DATA_DIR" && exec "$@"',
  'sh',
];
/** Results of 3 MB. Not all of them fit. */
const RESULTS = 40;
let noise: Buffer | undefined;

/** Lets one account and then another one store results. Returns the codes of both. */
async function fillDisk(service: SharedService, origin: string) {
  noise ??= await noisyPicture();
  const codesOf = (account: SharedService['attacker'], count: number) =>
    repeat(count, 1, async (index) => {
      const query = { app: 'imageproc', infile: `${origin}/${index}`, outfile: 'x.png' };
      return (await account.ask(query)).code ?? 'a result';
    });
  return {
    attacker: await codesOf(service.attacker, RESULTS),
    neighbor: await codesOf(service.neighbor, 10),
  };
}

const onSmallDisk = { as: { command: ON_SMALL_DISK, user: process.getuid!() } };

const fullDisk = neighborRow({
  name: 'full-disk',
  title: 'an account that fills a small disk',
  figures: 'last code of the attacker; of another account; its slowest request',
  target: `QUOTA_EXCEEDED; results; ≤ ${MAX_DELAY} ms`,
  source: (_request, response) => response.end(noise),
  settings: onSmallDisk,
  async attack(service, origin) {
    const { attacker, neighbor } = await fillDisk(service, origin);
    const figure = `${attacker.at(-1)}; ${[...new Set(neighbor)]}`;
    return { figure, failures: figure === 'QUOTA_EXCEEDED; a result' ? [] : [figure] };
  },
});

const sharedDisk: Row = {
  name: 'shared-disk',
  title: 'the same without a share for each account',
  figures: 'last code of the attacker; of another account; of the health',
  target: 'OVERLOADED; a result or OVERLOADED; 503',
  async run() {
    const source = await serveHttp((_request, response) => response.end(noise));
    const settings = { ...onSmallDisk, sources: [source.port], environment: { ACCOUNT_STORAGE: '0' } };
    const figure = await withSharedService(settings, async (service) => {
      const { attacker, neighbor } = await fillDisk(service, source.origin);
      const health = await fetch(`http://127.0.0.1:${service.port}/api/health`);
      return `${attacker.at(-1)}; ${[...new Set(neighbor)]}; ${health.status}`;
    });
    await source.close();
    const isRight = /^OVERLOADED; (a result|OVERLOADED|,)+; 503$/.test(figure);
    return { figure, failures: isRight ? [] : [figure] };
  },
};

function noisyPicture(): Promise<Buffer> {
  const gaussian = { type: 'gaussian', mean: 128, sigma: 60 } as const;
  const create = { width: 1000, height: 1000, channels: 3, background: 'gray', noise: gaussian } as const;
  return sharp({ create }).png().toBuffer();
}

/** Rows about requests that are expensive for the server, and about what they store. */
export const requestRows: readonly Row[] = [
  keyless,
  manyOptions,
  multipart,
  multipartKey,
  waitingBodies,
  fullDisk,
  sharedDisk,
];
