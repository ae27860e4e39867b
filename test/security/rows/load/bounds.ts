import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { ZipFile } from 'yazl';
import { makePdf, numberedPages } from '../../../fixtures/pdf.ts';
import { slowChain } from '../../../helpers/certificate.ts';
import { serveTls } from '../../../helpers/fault-server.ts';
import type { Row } from '../../row.ts';
import { neighborRow, repeat } from './neighbor-row.ts';

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
