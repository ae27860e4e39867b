import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { SAMPLES, serveSamples } from '../../../infra/local/self-check/samples.ts';
import type { Deployment } from '../deployment/deployment.ts';

interface RawAnswer {
  readonly status: number;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends a request target byte for byte, even if it is invalid, which no client library does. */
export async function httpGet(port: number, target: string): Promise<RawAnswer> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost:${port}\r\nConnection: close\r\n\r\n`);
  const answer = await text(socket);
  const end = answer.indexOf('\r\n\r\n');
  const [first = '', ...lines] = answer.slice(0, end).split('\r\n');
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(': ');
    return [name.toLowerCase(), value.join(': ')];
  });
  return {
    status: Number(first.split(' ')[1]),
    headers: Object.fromEntries(headers),
    body: answer.slice(end + 4),
  };
}

export interface Jobs {
  /** Port of the loopback server that provides the sources. */
  readonly port: number;
  /** The n-th of an endless sequence of different jobs: the tools in turn, each result with its own name. */
  query(index: number): Readonly<Record<string, string>>;
  close(): void;
}

/** Serves valid sources for every tool: the samples that are part of the service. */
export async function serveJobs(deployment: Deployment): Promise<Jobs> {
  const { host, close } = await serveSamples();
  const port = Number(new URL(`http://${host}`).port);
  const origin = deployment.originOf(port);
  return {
    port,
    query: (index) => {
      const { tool, infile, outfile, options } = SAMPLES[index % SAMPLES.length]!;
      // Identical requests would share one conversion.
      return { app: tool, infile: `${origin}/${infile}`, outfile: `${index}-${outfile}`, ...options };
    },
    close,
  };
}

/** Paths that are costly to answer, for a request without a key. */
export const KEYLESS_PATHS: readonly string[] = [
  unknownOptions(480),
  '/api/openapi.json',
  '/llms.txt',
  '/api/health',
  '/api/version',
];

/** Beginnings of multipart bodies that are costly to parse, and from which no key can be read. */
const COSTLY_PARTS = {
  'parts without a name': '--b\r\n\r\n\r\n',
  'encoded names': `--b\r\nContent-Disposition: attachment; ${"name*=UTF-8''%41%42;".repeat(350)}\r\n\r\nx\r\n`,
  'folded headers': `--b\r\na: ${'b\r\n '.repeat(2000)}\r\n\r\nx\r\n`,
};
const BODY_BYTES = 4_000_000;

/** Returns multipart bodies with the boundary `b`, each with the given parts first. */
export function costlyBodies(first = ''): Buffer[] {
  return Object.values(COSTLY_PARTS).map((part) =>
    Buffer.from(`\r\n${first}${part.repeat(BODY_BYTES / part.length)}`),
  );
}

/** Posts a body. A server that has read enough closes the connection. */
export async function postParts(port: number, body: Buffer, query = ''): Promise<void> {
  const headers = { 'content-type': 'multipart/form-data; boundary=b' };
  await fetch(`http://127.0.0.1:${port}/api/${query}`, { method: 'POST', body, headers }).then(
    (response) => response.text(),
    () => {},
  );
}

function unknownOptions(count: number): string {
  const options = Array.from({ length: count }, (_, index) => `-unknown-option-${index}=1`);
  return `/api/?app=imageproc&infile=http://a.example/&outfile=x.png&${options.join('&')}`;
}

/** Documents that are slow to parse, by their names. */
export const PARSED_FILES: Readonly<Record<string, () => Buffer>> = {
  'bomb.doc': () => difatBomb(4.6),
  'circle.doc': circularCompound,
  'space.doc': () => longWhiteSpace(64_000),
  'space.rtf': () => longWhiteSpace(20_000_000),
  'types.docx': () => hugeContentTypes(290_000_000),
  'words.rtf': () => rtfWords(40_000_000),
};

const FORM = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 1'];
/** About as long as a head may be. */
const LONG_QUERY = Array.from({ length: 10_000 }, (_, index) => `${index.toString(36)}`).join('&');
/** Files of one call, each of which fits into the buffers of its streams. */
const SMALL_FILES = 200;
const SMALL_FILE = 180_000;

const part = (name: string, fileName: string, content = '') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\n\r\n${content}`;

/** Opens requests without a key whose queries are long and whose bodies never arrive, 50 at a time. */
export async function postLongQueries(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened++) {
    sockets.push(post(port, `/api/?${LONG_QUERY}`, FORM));
    if (opened % 50 === 0) await setTimeout(20);
  }
  return sockets;
}

/**
 * Opens calls of one account that use up its uploads, by files that never end, and then calls that wait for theirs and send many small
 * files meanwhile.
 */
export function postWaitingFiles(port: number, apiKey: string, count: number): Socket[] {
  const path = `/api/?app=html2pdf&outfile=a.pdf&apikey=${apiKey}`;
  const headers = ['Content-Type: multipart/form-data; boundary=b', 'Transfer-Encoding: chunked'];
  const send = (content: string) => {
    const socket = post(port, path, headers);
    socket.write(`${content.length.toString(16)}\r\n${content}\r\n`);
    return socket;
  };
  const files = Array.from({ length: SMALL_FILES }, (_, index) =>
    part('asset', `${index}.txt`, `${'x'.repeat(SMALL_FILE)}\r\n`),
  );
  return [
    ...Array.from({ length: 16 }, () => send(part('infile', 'a.html', 'x'.repeat(100)))),
    ...Array.from({ length: count }, () => send(files.join(''))),
  ];
}

function post(port: number, path: string, headers: readonly string[]): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.resume();
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\n\r\n`);
  return socket;
}

/** Small files that were slow to recognize. Each of them once blocked the server for seconds. */

const SECTOR = 512;

/** A compound file whose DIFAT lists the same FAT sector repeatedly, so that a naive reader builds a table of gigabytes. */
function difatBomb(megabytes: number): Buffer {
  const sectors = Math.floor((megabytes * 1_000_000) / SECTOR);
  const file = Buffer.alloc((sectors + 1) * SECTOR, 0);
  header(file, { fatSectors: 127 * (sectors - 2), difatStart: 1, difatSectors: sectors - 2, directory: 0 });
  for (let sector = 1; sector < sectors; sector += 1) {
    const start = (sector + 1) * SECTOR;
    // Every entry names sector 0; the last one leads to the next DIFAT sector.
    file.writeUInt32LE(sector + 1 < sectors ? sector + 1 : 0xfffffffe, start + SECTOR - 4);
  }
  return file;
}

/** A compound file whose directory chain, FAT and DIFAT are circular. */
function circularCompound(): Buffer {
  const file = Buffer.alloc(8 * SECTOR, 0);
  header(file, { fatSectors: 2, difatStart: 2, difatSectors: 0xffff, directory: 1 });
  file.writeUInt32LE(0, 76);
  file.writeUInt32LE(0, 80);
  // FAT: sector 1 links to itself, and 2 and 3 link to each other.
  for (const [sector, next] of [
    [0, 0xfffffffd],
    [1, 1],
    [2, 3],
    [3, 2],
  ] as const)
    file.writeUInt32LE(next, SECTOR + 4 * sector);
  // DIFAT: leads to itself.
  file.writeUInt32LE(2, 4 * SECTOR - 4);
  return file;
}

function header(
  file: Buffer,
  parts: { fatSectors: number; difatStart: number; difatSectors: number; directory: number },
): void {
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  file.writeUInt16LE(0x3e, 24);
  file.writeUInt16LE(3, 26);
  file.writeUInt16LE(0xfffe, 28);
  file.writeUInt16LE(9, 30);
  file.writeUInt16LE(6, 32);
  file.writeUInt32LE(parts.fatSectors, 44);
  file.writeUInt32LE(parts.directory, 48);
  file.writeUInt32LE(4096, 56);
  file.writeUInt32LE(0xfffffffe, 60);
  file.writeUInt32LE(parts.difatStart, 68);
  file.writeUInt32LE(parts.difatSectors, 72);
}

/** White space on which a pattern with `m` and `\s*` restarts at every line. */
function longWhiteSpace(bytes: number): Buffer {
  return Buffer.alloc(bytes, '\n');
}

/** Only control words, each of which opens and closes a group. */
function rtfWords(bytes: number): Buffer {
  const text = Buffer.alloc(bytes, '{\\a\\b0}');
  text.write('{\\rtf1 ');
  return text;
}

/** A document whose list of parts is so long, with enough noise to stay below the allowed ratio of compression. */
function hugeContentTypes(bytes: number): Buffer {
  const name = Buffer.from('[Content_Types].xml');
  const content = Buffer.alloc(bytes, ' ');
  for (let place = 0; place < bytes - 4; place += 4000)
    content.write(randomBytes(3).toString('hex').slice(0, 4), place);
  content.write(
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">',
  );
  const packed = deflateRawSync(content, { level: 1 });
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(20, 0);
  facts.writeUInt16LE(8, 4);
  facts.writeUInt32LE(crc32(content), 10);
  facts.writeUInt32LE(packed.length, 14);
  facts.writeUInt32LE(bytes, 18);
  facts.writeUInt16LE(name.length, 22);
  const entry = Buffer.concat([Buffer.from('PK\x03\x04'), facts, name, packed]);
  const listing = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), facts, Buffer.alloc(14), name]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(entry.length, 16);
  return Buffer.concat([entry, listing, end]);
}
