import { readdirSync, readFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import sharp from 'sharp';
import { SAMPLES_FOLDER } from '../../../infra/local/self-check/samples.ts';
import { inParallel } from '../../../layers/build/command.ts';
import { makePdf, numberedPages, pdfOf } from '../../fixtures/pdf.ts';
import { type Listening, serveHttp } from '../../helpers/fault-server.ts';
import {
  costlyBodies,
  KEYLESS_PATHS,
  postLongQueries,
  postParts,
  postWaitingFiles,
} from '../attacks/requests.ts';
import {
  judge,
  MAX_DELAY,
  type SharedService,
  type SharedServiceOptions,
  withSharedService,
} from '../neighbor/service.ts';
import type { Reached, Row } from '../row.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

interface NeighborRow extends Pick<Row, 'name' | 'title'>, Partial<Pick<Row, 'figures' | 'target'>> {
  /** Responds to requests for sources. By default, all of them are a picture. */
  readonly source?: Answer;
  /** Starts the server of the sources, if it is not a plain one. */
  readonly serve?: () => Promise<Listening>;
  readonly settings?: Omit<SharedServiceOptions, 'sources'>;
  /** Attacks, and returns what it found apart from the second account's requests. */
  attack(service: SharedService, origin: string): Promise<Partial<Reached>>;
}

/** A sample of the service. */
export const PICTURE = readFileSync(join(SAMPLES_FOLDER, 'picture.png'));
const sendPicture: Answer = (_request, response) => response.end(PICTURE);

/** Creates a row that attacks a service of its own, and judges how a second account was served meanwhile. */
export function neighborRow({
  name,
  title,
  figures = 'slowest request of another account',
  target = `≤ ${MAX_DELAY} ms, none failed`,
  source = sendPicture,
  serve = () => serveHttp(source),
  settings,
  attack,
}: NeighborRow): Row {
  return {
    name,
    title,
    figures,
    target,
    async run() {
      const server = await serve();
      try {
        return await withSharedService({ ...settings, sources: [server.port] }, async (service) => {
          await service.heartbeat.reset();
          const { figure, failures = [], notes = [] } = await attack(service, server.origin);
          const verdict = await judge(service);
          return {
            ...verdict,
            figure: figure === undefined ? verdict.figure : `${figure}; ${verdict.figure}`,
            failures: [...failures, ...verdict.failures],
            notes,
          };
        });
      } finally {
        await server.close();
      }
    },
  };
}

/** Calls `each` with the numbers from 0, several at a time. */
export function repeat<Result>(
  count: number,
  lanes: number,
  each: (index: number) => Promise<Result>,
): Promise<Result[]> {
  return inParallel([...Array(count).keys()], lanes, each);
}

/** Timeout for the service to accept connections again, in milliseconds. */
const RECOVERY_TIME = 30_000;
/** For `ulimit -n`: low, so that a test machine can exhaust it. */
const DESCRIPTORS = 2048;
const settings = { descriptors: DESCRIPTORS };

const idleConnections = neighborRow({
  name: 'idle-connections',
  title: 'more idle connections than `ulimit -n`',
  figures: 'slowest request of another account; afterwards',
  target: `≤ ${MAX_DELAY} ms; served`,
  settings,
  async attack(service) {
    // Half of them send the beginning of a request.
    const sockets = await openMany(service, 9000, (index) =>
      index % 2 === 0 ? 'GET /api/ HTTP/1.1\r\n' : '',
    );
    await setTimeout(1000);
    for (const socket of sockets) socket.destroy();
    const end = Date.now() + RECOVERY_TIME;
    const again = () => service.neighbor.ask({ app: 'nothing' }).catch(String);
    let after = await again();
    while (typeof after === 'string' && Date.now() < end) after = await again();
    const isServed = typeof after !== 'string' && after.status === 400;
    return {
      figure: `${sockets.length} connections`,
      failures: [
        ...(isServed ? [] : [`afterwards: ${JSON.stringify(after)}`]),
        ...(service.process.exitCode === null ? [] : ['the service ended']),
      ],
    };
  },
});

const pipelined = neighborRow({
  name: 'pipelined',
  title: 'thousands of pipelined requests for a result that is not read',
  figures: 'most descriptors; slowest request of another account',
  target: `< ${DESCRIPTORS / 2}; ≤ ${MAX_DELAY} ms`,
  settings,
  async attack(service, origin) {
    const query = { app: 'imageproc', infile: `${origin}/`, outfile: 'x.tiff', '-resize': '1500x1500!' };
    const { results, body } = await service.attacker.ask(query);
    if (results[0] === undefined) return { failures: [body.slice(0, 150)] };
    const { pathname, search } = new URL(results[0]);
    const request = `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const sockets = await openMany(service, 4, () => request.repeat(5000));
    let most = 0;
    for (let look = 0; look < 30; look += 1) {
      await setTimeout(100);
      most = Math.max(most, descriptorsOf(service));
    }
    for (const socket of sockets) socket.destroy();
    return { figure: `${most}`, failures: most < DESCRIPTORS / 2 ? [] : [`${most} descriptors`] };
  },
});

const identicalRequests = neighborRow({
  name: 'identical-requests',
  title: 'more identical slow requests than connections',
  source: (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const dripping = setInterval(() => response.write('x'), 500);
    response.once('close', () => clearInterval(dripping));
  },
  settings,
  async attack(service, origin) {
    const { apiKey: apikey } = service.attacker;
    const query = new URLSearchParams({ apikey, app: 'imageproc', infile: `${origin}/x`, outfile: 'x.png' });
    const request = `GET /api/?${query} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const sockets = await openMany(service, 2000, () => request);
    await setTimeout(10_000);
    const { length } = service.heartbeat.beats;
    await service.heartbeat.settle();
    for (const socket of sockets) socket.destroy();
    return { figure: `${length} during the attack` };
  },
});

const UPLOADS = 200;
/** Announced size of each upload in bytes. It is larger than an upload can send before its timeout. */
const ANNOUNCED = 1_000_000;
/** Seconds after which the service has given up every upload: its own limit is 120. */
const WHOLE = 130;
/** Timeout for the service to clean up after disconnected callers, in milliseconds. */
const CLEANUP = 2000;
/** Descriptors that a service may have opened meanwhile for something else. */
const SPARE = 20;

const slowUploads = neighborRow({
  name: 'slow-uploads',
  title: '200 uploads at one byte a second',
  figures: 'ended by the service; files and descriptors left; slowest request of another account',
  target: `all or cut off; 0; ≤ ${MAX_DELAY} ms`,
  async attack(service) {
    const before = descriptorsOf(service);
    const replies: string[] = [];
    const sockets = await openMany(service, UPLOADS, (index) => uploadHead(index, service.attacker.apiKey));
    for (const socket of sockets) {
      let reply = '';
      socket.setEncoding('utf8').on('data', (text: string) => {
        reply += text;
        if (!/\([A-Z_]+\)$/.test(reply)) return;
        replies.push(reply);
        socket.destroy();
      });
    }
    for (let second = 0; second < WHOLE && replies.length < UPLOADS; second++) {
      for (const socket of sockets) if (socket.writable) socket.write('x');
      await setTimeout(1000);
    }
    for (const socket of sockets) socket.destroy();
    await setTimeout(CLEANUP);
    const left = uploadsIn(service);
    const descriptors = Math.max(0, descriptorsOf(service) - before - SPARE);
    const untyped = replies.filter((reply) => !/\((SOURCE_TIMEOUT|OVERLOADED|RATE_LIMITED)\)$/.test(reply));
    return {
      figure: `${replies.length} of ${UPLOADS}; ${left.length} and ${descriptors}`,
      failures: [
        ...untyped.map((reply) => `an upload ended with ${reply.slice(-200)}`),
        ...left.map((path) => `${path} was left`),
        ...(descriptors > 0 ? [`${descriptors} descriptors were left`] : []),
        ...(replies.length < UPLOADS ? [`only ${replies.length} uploads were ended`] : []),
      ],
    };
  },
});

/** Begins an upload: a third are multipart forms, whose file is preceded by its parameters. */
function uploadHead(index: number, apiKey: string): string {
  const isForm = index % 3 === 0;
  const type = isForm ? 'multipart/form-data; boundary=b' : 'image/png';
  const head = `POST /api/?app=imageproc&outfile=a.jpg HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\nContent-Type: ${type}\r\nContent-Length: ${ANNOUNCED}\r\n\r\n`;
  const part = '--b\r\nContent-Disposition: form-data; name=infile; filename=a.png\r\n\r\n';
  return isForm ? head + part : head;
}

/** Opens connections, 100 at a time, and sends a text on each. */
async function openMany(
  { port }: SharedService,
  count: number,
  textOf: (index: number) => string,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(textOf(opened));
    sockets.push(socket);
    if (opened % 100 === 0) await setTimeout(20);
  }
  return sockets;
}

function descriptorsOf({ process: { pid } }: SharedService): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The files of the attacker's uploads, complete or not. */
function uploadsIn({ temporary }: SharedService): string[] {
  return readdirSync(join(temporary, 'data'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes('uploads'))
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Rows about the connections of the server. */
export const connectionRows: readonly Row[] = [idleConnections, pipelined, identicalRequests, slowUploads];

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

type Part = readonly [name: string, value: string | Uint8Array];

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" width="100000" height="100000"><rect width="9" height="9"/></svg>';

/** Merges, forms, stamps and attachments that are costly or refer to themselves. */
export const toolbox: Row = neighborRow({
  name: 'toolbox',
  title: 'costly merges, forms, stamps and attachments',
  figures: 'untyped responses; slowest request of another account',
  async attack({ port, attacker }) {
    const failures: string[] = [];
    const attacks = Object.entries(costlyParts());
    await repeat(attacks.length, 3, async (index) => {
      const [name, parts] = attacks[index]!;
      const form = new FormData();
      const call: Part[] = [
        ['app', 'pdftools'],
        ['outfile', 'x.pdf'],
        ['apikey', attacker.apiKey],
      ];
      for (const [part, value] of [...call, ...parts])
        form.append(part, typeof value === 'string' ? value : new Blob([new Uint8Array(value)]));
      const response = await fetch(`http://127.0.0.1:${port}/api/json`, { method: 'POST', body: form });
      const { code } = (await response.json()) as { code?: string };
      if (response.status !== 200 && (code === undefined || code === 'INTERNAL'))
        failures.push(`${name}: ${response.status} ${code}`);
    });
    return { figure: `${failures.length} of ${attacks.length}`, failures };
  },
});

function costlyParts(): Record<string, readonly Part[]> {
  const many = makePdf(numberedPages(2000));
  const one = makePdf(numberedPages(1));
  const nested = (open: string, close: string) => Buffer.from(open.repeat(100_000) + close.repeat(100_000));
  const entities = Array.from({ length: 20 }, (_, level) =>
    level === 0 ? '<!ENTITY e0 "lol">' : `<!ENTITY e${level} "${`&e${level - 1};`.repeat(10)}">`,
  ).join('');
  return {
    'the same 2,000 pages 40 times': [
      ['infile', many],
      ...Array.from({ length: 40 }, (): Part => ['-append', many]),
    ],
    '90 documents': [['infile', one], ...Array.from({ length: 90 }, (): Part => ['-append', one])],
    'pages repeated 100,000 times': [
      ['infile', many],
      ['-pages', Array(100_000).fill('1').join(',')],
    ],
    'pages that contain each other': [
      ['infile', selfReferring()],
      ['-append', selfReferring()],
      ['-number', '%p'],
    ],
    'values nested 100,000 deep': [
      ['infile', one],
      ['-fill', nested('[', ']')],
    ],
    'objects nested 100,000 deep': [
      ['infile', one],
      ['-fill', nested('{"a":', '}')],
    ],
    'XFDF with entities': [
      ['infile', one],
      ['-fill', Buffer.from(`<!DOCTYPE x [${entities}]><xfdf><fields><field name="&e19;"/></fields></xfdf>`)],
    ],
    'a picture of 10,000 megapixels as the stamp': [
      ['infile', many],
      ['-stamp', Buffer.from(SVG)],
    ],
    'a stamp of 2,000 pages': [
      ['infile', many],
      ['-stamp', many],
      ['-underlay', many],
    ],
    'a watermark of all characters': [
      ['infile', many],
      ['-watermark', String.fromCodePoint(...Array.from({ length: 500 }, (_, index) => 0x4e00 + index))],
    ],
    '60 attached files': [['infile', many], ...Array.from({ length: 60 }, (): Part => ['-attach', one])],
    'images reduced on pages that draw themselves': [
      ['infile', selfReferring()],
      ['-optimize', '20'],
    ],
  };
}

/** A document whose page tree, form and destinations refer to themselves. */
function selfReferring(): Buffer {
  return pdfOf([
    '<< /Type /Catalog /Pages 2 0 R /Outlines 5 0 R >>',
    '<< /Type /Pages /Kids [3 0 R 2 0 R] /Count 2 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R /Resources << /XObject << /X 6 0 R >> >> >>',
    '<< /Length 5 >> stream\n/X Do\nendstream',
    '<< /Type /Outlines /First 5 0 R /Last 5 0 R /Next 5 0 R /Count 1 >>',
    '<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> /Length 11 >> stream\n/X Do /X Do\nendstream',
  ]);
}
