import { randomBytes } from 'node:crypto';
import type { ServerOptions } from 'node:https';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { constants, zstdCompressSync } from 'node:zlib';
import { ZipFile } from 'yazl';
import { makePdf, numberedPages } from '../../fixtures/pdf.ts';
import { der, selfSigned, slowChain } from '../../helpers/certificate.ts';
import { serveTls } from '../../helpers/fault-server.ts';
import { PARSED_FILES } from '../attacks/requests.ts';
import { MAX_DELAY, MAX_MEMORY } from '../neighbor/service.ts';
import type { Row } from '../row.ts';
import { neighborRow, PICTURE, repeat } from './neighbor.ts';

/** Maximum milliseconds of the main thread for one file. The shortest attack that once worked took 650. */
const MAX_CPU = 300;
const SILENT_NAMES = 400;
/** Certificates that OpenSSL accepts at most in a chain, without the one of the authority. */
const CHAIN = 99;
/** The most that OpenSSL takes. */
const PRIME_BITS = 10_000;

const silentDns = neighborRow({
  name: 'silent-dns',
  title: 'images on hosts with a silent name server',
  source: (_request, response) => {
    const images = Array.from({ length: SILENT_NAMES }, (_, index) => {
      return `<img src="http://n${index}-${Math.random()}.silent.test/x.png">`;
    });
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html>${images.join('')}`);
  },
  settings: { environment: { CONVERSION_TIME: '30' } },
  async attack({ attacker }, origin) {
    await repeat(4, 4, (page) =>
      attacker.ask({ app: 'html2image', infile: `${origin}/${page}`, outfile: 'x.png' }),
    );
    return {};
  },
});

const fullQueue = neighborRow({
  name: 'full-queue',
  title: 'a queue full of sources that never end',
  figures: 'conversions of another account',
  target: `none refused, heartbeat ≤ ${MAX_DELAY} ms`,
  source: ({ url }, response) => {
    if (url === '/picture') return void response.end(PICTURE);
    response.writeHead(200, { 'content-type': 'image/png' }).write('x');
  },
  settings: { environment: { QUEUE: '16', CONVERSION_TIME: '20' } },
  async attack(service, origin) {
    let attacking = true;
    const attack = Array.from({ length: 40 }, async (_, lane) => {
      for (let call = 0; attacking; call += 1) {
        const infile = `${origin}/${lane}/${call}`;
        const { code } = await service.attacker.ask({ app: 'imageproc', infile, outfile: 'x.png' });
        if (code === 'OVERLOADED') await setTimeout(100);
      }
    });
    await setTimeout(500);
    const answers = [];
    for (let call = 0; call < 40; call += 1) {
      const query = { app: 'imageproc', infile: `${origin}/picture`, outfile: `${call}-x.jpg` };
      answers.push(await service.neighbor.ask(query));
    }
    attacking = false;
    await Promise.race([Promise.all(attack), setTimeout(22_000)]);
    const delays = answers.map(({ milliseconds }) => milliseconds).toSorted((a, b) => a - b);
    return {
      figure: `p95 ${delays[Math.floor(delays.length * 0.95)]} ms`,
      failures: answers.filter(({ results }) => results.length !== 1).map(({ body }) => body.slice(0, 120)),
    };
  },
});

const made = new Map<string, Buffer>();

const hostileParsing = neighborRow({
  name: 'hostile-parsing',
  title: 'sources that are slow to parse',
  figures: 'slowest request of another account; CPU time of the main thread',
  target: `≤ ${MAX_DELAY} ms; ≤ ${MAX_CPU} ms a file`,
  source: ({ url = '' }, response) => void response.end(made.get(url)),
  settings: { environment: { CONVERSION_TIME: '30' } },
  async attack(service, origin) {
    for (const [name, make] of Object.entries(PARSED_FILES)) made.set(`/${name}`, make());
    const failures: string[] = [];
    const notes: string[] = [];
    // LibreOffice uses its whole time limit for the last one.
    for (const path of made.keys()) {
      const before = service.mainThreadTime();
      const query = { app: 'doc2any', infile: `${origin}${path}`, outfile: 'x.pdf' };
      const { code, milliseconds } = await service.attacker.ask(query);
      const cpu = service.mainThreadTime() - before;
      notes.push(`${path}: ${code ?? 'a result'} in ${milliseconds} ms, main thread ${cpu} ms`);
      // The heartbeat needs some of them too.
      if (cpu > MAX_CPU + milliseconds / 10) failures.push(notes.at(-1)!);
    }
    made.clear();
    return { failures, notes };
  },
});

const wideWindows = neighborRow({
  name: 'wide-windows',
  title: 'wide zstd windows and gzip bombs',
  figures: 'MiB of the server; slowest request of another account',
  target: `≤ ${MAX_MEMORY} MiB; ≤ ${MAX_DELAY} ms`,
  source: (_request, response) => {
    response.writeHead(200, { 'content-encoding': 'zstd' }).end(wideWindow());
  },
  async attack({ attacker }, origin) {
    const codes = await repeat(32, 32, async (index) => {
      const query = { app: 'imageproc', infile: `${origin}/${index}`, outfile: 'x.png' };
      return `${(await attacker.ask(query)).code}`;
    });
    const unexpected = codes.filter((code) => !['CORRUPT_SOURCE', 'SOURCE_TOO_LARGE'].includes(code));
    return { failures: unexpected.length > 0 ? [`answers: ${[...new Set(unexpected)]}`] : [] };
  },
});

let compressed: Buffer | undefined;
function wideWindow(): Buffer {
  const params = { [constants.ZSTD_c_windowLog]: 27, [constants.ZSTD_c_compressionLevel]: 1 };
  compressed ??= zstdCompressSync(Buffer.alloc(140_000_000), { params });
  return compressed;
}

/** Creates a row in which sources are expensive to connect to. */
const tlsRow = (name: string, title: string, calls: number, options: () => ServerOptions): Row =>
  neighborRow({
    name,
    title,
    serve: () => serveTls(options(), (_request, response) => response.end()),
    async attack({ attacker }, origin) {
      await repeat(calls, 20, (index) =>
        attacker.ask({ app: 'imageproc', infile: `${origin}/${index}`, outfile: 'x.png' }),
      );
      return {};
    },
  });

const certificateChain = tlsRow('certificate-chain', 'TLS servers with 99 slow certificates', 60, () =>
  slowChain(CHAIN),
);

/** A server that only offers Diffie-Hellman with a prime that no client knows, or what is just as slow, any odd number. */
const keyExchange = tlsRow('key-exchange', 'TLS servers that choose a key exchange of 10,000 bits', 8, () => {
  const prime = randomBytes(PRIME_BITS / 8);
  prime[0]! |= 0x80;
  prime[prime.length - 1]! |= 1;
  const integers = [Buffer.concat([Buffer.alloc(1), prime]), Buffer.from([2])];
  const group = der(0x30, ...integers.map((integer) => der(0x02, integer)));
  const text = group.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    ...selfSigned('127.0.0.1', 'rsa'),
    dhparam: `-----BEGIN DH PARAMETERS-----\n${text}\n-----END DH PARAMETERS-----\n`,
    ciphers: 'DHE-RSA-AES128-GCM-SHA256',
    maxVersion: 'TLSv1.2',
  };
});

let open = 0;

const optionImages = neighborRow({
  name: 'option-images',
  title: 'images of `-composite` beside one that is missing',
  figures: 'connections after the reply; slowest request of another account',
  target: `0; ≤ ${MAX_DELAY} ms`,
  source: ({ url = '' }, response) => {
    if (url.startsWith('/missing')) return void response.writeHead(404).end();
    if (url.startsWith('/picture')) return void response.end(PICTURE);
    open += 1;
    response.once('close', () => {
      open -= 1;
    });
    response.write(Buffer.alloc(45_000_000, 'x'));
  },
  async attack({ attacker, port }, origin) {
    await repeat(20, 20, async (index) => {
      const infile = `${origin}/picture?${index}`;
      const query = new URLSearchParams({
        apikey: attacker.apiKey,
        app: 'imageproc',
        outfile: 'x.png',
        infile,
      });
      query.append('-composite', `${origin}/missing`);
      for (let image = 0; image < 8; image++) query.append('-composite', `${origin}/image/${index}/${image}`);
      await (await fetch(`http://127.0.0.1:${port}/api/?${query}`)).text();
    });
    const left = open;
    return { figure: `${left}`, failures: left > 0 ? [`${left} connections after the reply`] : [] };
  },
});

let noisyPage: Buffer | undefined;

const largePages = neighborRow({
  name: 'large-pages',
  title: 'pages of 60 MB in a zip',
  figures: 'MiB of the server; slowest request of another account',
  target: `≤ ${MAX_MEMORY} MiB; ≤ ${MAX_DELAY} ms`,
  source: (_request, response) => response.end(noisyPage),
  async attack({ attacker }, origin) {
    noisyPage = makeNoisyPage();
    const query = { app: 'pdftools', outfile: 'n.tiff.zip', '-scale-to': '4500' };
    const answers = await repeat(3, 1, (call) => attacker.ask({ ...query, infile: `${origin}/${call}` }));
    return {
      failures: answers.filter(({ results }) => results.length !== 1).map(({ body }) => body.slice(0, 120)),
    };
  },
});

/** A page with a picture of random pixels, which cannot be compressed. */
function makeNoisyPage(): Buffer {
  const side = 3900;
  const pixels = randomBytes(3 * side * side).toString('latin1');
  const image = `BI /W ${side} /H ${side} /CS /RGB /BPC 8 ID ${pixels} EI`;
  return makePdf([{ width: 500, height: 500, content: `q 500 0 0 500 0 0 cm ${image} Q` }]);
}

/** Rows about sources that are expensive for the server or its downloads. */
export const downloadRows: readonly Row[] = [
  silentDns,
  fullQueue,
  hostileParsing,
  wideWindows,
  certificateChain,
  keyExchange,
  optionImages,
  largePages,
];

/** Connections of a burst. */
const BURST = 2000;
const JOINED = 1200;
const PAGES = 400;
/** For `ulimit -n`: enough for a burst. */
const DESCRIPTORS = 8192;
/** How long replies are left unread, in milliseconds. */
const UNREAD_TIME = 8000;

/** Opens connections, and then sends all requests at once. */
async function burst(port: number, count: number, textOf: (index: number) => string): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened += 1) {
    sockets.push(connect(port, '127.0.0.1').on('error', () => {}));
    if (opened % 100 === 0) await setTimeout(20);
  }
  await setTimeout(200);
  for (const [index, socket] of sockets.entries()) socket.resume().write(textOf(index));
  return sockets;
}

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;

const zipNames = neighborRow({
  name: 'zip-names',
  title: 'names with thousands of combining marks in a zip',
  async attack({ port, attacker }) {
    const body = await zipWithNames();
    const query = new URLSearchParams({ apikey: attacker.apiKey, app: 'html2image', outfile: 'x.png' });
    await repeat(6, 2, async () => {
      const headers = { 'content-type': 'application/zip' };
      const sent = { method: 'POST', body: new Uint8Array(body), headers };
      await (await fetch(`http://127.0.0.1:${port}/api/?${query}&in_ext=zip`, sent)).text();
    });
    return {};
  },
});

/** An archive of a page beside files whose names are as long as they can be, and slow to normalize. */
async function zipWithNames(): Promise<Buffer> {
  const zip = new ZipFile();
  zip.addBuffer(Buffer.from('<p>page</p>'), 'index.html');
  for (let index = 0; index < 14; index += 1)
    zip.addBuffer(Buffer.from('x'), `${index}-${'\u0301\u0323'.repeat(16_000)}.txt`);
  zip.end();
  return buffer(zip.outputStream);
}

const unreadReplies = neighborRow({
  name: 'unread-replies',
  title: 'more unread replies of any kind than connections',
  settings: { descriptors: 1024 },
  async attack({ port, attacker }, origin) {
    const query = `apikey=${attacker.apiKey}&app=imageproc&infile=${encodeURIComponent(origin)}&outfile=x.tiff`;
    const large = `${query}&-resize=1500x1500!&_response=file`;
    const paths = ['/api/openapi.json', '/docs/imageproc', `/api/?${large}`, '/llms.txt'];
    const sockets: Socket[] = [];
    for (let index = 0; index < 1500; index += 1) {
      const socket = connect({
        port,
        host: '127.0.0.1',
        onread: { buffer: Buffer.alloc(1), callback: () => false },
      });
      socket.on('error', () => {}).write(get(paths[index % paths.length]!));
      sockets.push(socket);
      if (index % 50 === 0) await setTimeout(50);
    }
    await setTimeout(UNREAD_TIME);
    for (const socket of sockets) socket.destroy();
    return {};
  },
});

const manyAddresses = neighborRow({
  name: 'many-addresses',
  title: 'a page with images on hosts with 4,000 addresses each',
  source: (_request, response) => {
    const images = Array.from({ length: 300 }, (_, index) => {
      return `<img src="http://n${index}-${Math.random()}.many.test/x.png">`;
    });
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html>${images.join('')}`);
  },
  async attack({ attacker }, origin) {
    await repeat(4, 4, (page) =>
      attacker.ask({ app: 'html2image', infile: `${origin}/${page}`, outfile: 'x.png' }),
    );
    return {};
  },
});

const longHeaders = neighborRow({
  name: 'long-headers',
  title: 'long lists in headers, on 64 connections without a key',
  async attack({ port }) {
    const lists = [
      ...['accept: ,', 'accept: application/json;', 'accept-language: de;q=0.5,'],
      ...['cookie: ;', 'if-none-match: ",', 'range: 0-1,'],
    ];
    const headers = [8000, 60_000].flatMap((length) =>
      lists.map((text) => {
        const [name, unit] = text.split(': ') as [string, string];
        return `${name}: ${unit.repeat(length / unit.length)}\r\nConnection: close\r\n`;
      }),
    );
    const paths = ['/api/', '/account', '/', '/api/usage', '/files/x/y?expires=1&signature=x'];
    await repeat(3000, 64, async (index) => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.resume().write(get(paths[index % paths.length]!, headers[index % headers.length]!));
      await new Promise((resolve) => socket.once('close', resolve));
    });
    return {};
  },
});

const fourAccounts = neighborRow({
  name: 'four-accounts',
  title: 'four accounts with slow TLS servers',
  serve: () => serveTls(slowChain(40), (_request, response) => response.end()),
  async attack({ others }, origin) {
    await Promise.all(
      others.map((account) =>
        repeat(30, 8, (index) =>
          account.ask({ app: 'imageproc', infile: `${origin}/${index}`, outfile: 'x.png' }),
        ),
      ),
    );
    return {};
  },
});

const bursts = neighborRow({
  name: 'bursts',
  title: `bursts of ${BURST} small requests to pages and usage`,
  settings: { descriptors: DESCRIPTORS },
  async attack({ port, attacker }) {
    const check = `/site/check?app=imageproc&infile=http://a.example/&outfile=x.png&${'-x=1&'.repeat(300)}`;
    const usage = `/api/usage?apikey=${attacker.apiKey}`;
    for (const path of [usage, '/account', '/api/openapi.json', '/api/health', check]) {
      const sockets = await burst(port, BURST, () => get(path));
      await setTimeout(2500);
      for (const socket of sockets) socket.destroy();
      await setTimeout(300);
    }
    return {};
  },
});

const joinedCallers = neighborRow({
  name: 'joined-callers',
  title: `${JOINED} callers who join a conversion of ${PAGES} pages`,
  settings: { descriptors: DESCRIPTORS, environment: { QUEUE: '1300' } },
  source: (_request, response) => {
    const document = makePdf(numberedPages(PAGES));
    // They join while it is downloaded.
    globalThis.setTimeout(() => response.end(document), 3000);
  },
  async attack({ port, attacker }, origin) {
    const query = new URLSearchParams({ apikey: attacker.apiKey, app: 'pdftools', infile: origin });
    const sockets = await burst(port, JOINED, () => get(`/api/?${query}&outfile=p-%25d.png&-r=10`));
    let replies = 0;
    for (const socket of sockets) socket.once('data', () => (replies += 1));
    for (let second = 0; second < 40 && replies < JOINED / 2; second += 1) await setTimeout(1000);
    await setTimeout(2000);
    for (const socket of sockets) socket.destroy();
    return {
      figure: `${replies} replies`,
      failures: replies < JOINED / 2 ? [`only ${replies} replies`] : [],
    };
  },
});

/** Rows about what a request makes the server compute, keep or send at once. */
export const boundRows: readonly Row[] = [
  zipNames,
  unreadReplies,
  manyAddresses,
  longHeaders,
  fourAccounts,
  bursts,
  joinedCallers,
];
