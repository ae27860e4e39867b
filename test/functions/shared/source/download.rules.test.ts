import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { downloadSource } from '../../../../functions/shared/source/download.ts';
import { selfSigned } from '../../../helpers/certificate.ts';
import { type Listening, serveHttp, serveRaw } from '../../../helpers/fault-server.ts';

let directory: string;
const servers: Pick<Listening, 'close'>[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'source-rules-'));
});

afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  await rm(directory, { recursive: true, force: true });
});

async function raw(answer: (socket: Socket) => void): Promise<Listening> {
  const server = await serveRaw(answer);
  servers.push(server);
  return server;
}

/** Downloads with one short time limit, so that only that one can end it. */
function download(
  address: string,
  budgets: Readonly<Record<string, number>>,
  resolve?: () => Promise<string[]>,
) {
  const { host } = new URL(address);
  return downloadSource(address, {
    directory,
    egress: createEgressGuard({ exceptions: [host], ...(resolve && { resolve }) }),
    limits: { sourceBytes: 1_000_000 },
    signal: new AbortController().signal,
    budgets: { connect: 60_000, headers: 60_000, idle: 60_000, whole: 60_000, ...budgets },
  });
}

describe('each time limit on its own', () => {
  it('ends a connection that is never established', async () => {
    const { port } = await raw(() => {});

    const failed = download(`https://127.0.0.1:${port}/`, { connect: 100 });

    await expect(failed).rejects.toThrow('Connecting to the source server timed out.');
  });

  it('ends a response that never starts', async () => {
    const { origin } = await raw(() => {});

    await expect(download(origin, { headers: 100 })).rejects.toThrow(
      'The source server did not respond in time.',
    );
  });

  it('ends a body that stops', async () => {
    const { origin } = await raw((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nshort'),
    );

    await expect(download(origin, { idle: 100 })).rejects.toThrow('The source server stopped sending.');
  });

  it('ends a download that is too slow', async () => {
    const { origin } = await raw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n');
      const timer = setInterval(() => socket.write('a'), 20);
      socket.on('close', () => clearInterval(timer));
    });

    await expect(download(origin, { whole: 300 })).rejects.toThrow(
      'Timed out after 0 s while downloading the source.',
    );
  });
});

it('connects only to the address that the guard found', async () => {
  const server = await serveHttp((request, response) => response.end(request.headers.host));
  servers.push(server);
  const host = `known-to-the-guard-alone.example:${server.port}`;

  const { path } = await download(`http://${host}/`, {}, async () => ['127.0.0.1']);

  expect(await readFile(path, 'utf8')).toBe(host);
});

it('offers no exchange of keys whose size the server chooses', async () => {
  const hello = Promise.withResolvers<Buffer>();
  const { port } = await raw((socket) =>
    socket.once('data', (bytes) => {
      hello.resolve(bytes);
      socket.destroy();
    }),
  );
  await expect(download(`https://127.0.0.1:${port}/`, {})).rejects.toThrow();

  const { suites, groups } = readClientHello(await hello.promise);

  // ECDHE with AES-GCM, which every server has, and X25519. See the registry of TLS parameters.
  expect(suites).toEqual(expect.arrayContaining([0xc02b, 0xc02f, 0x1301]));
  expect(groups).toContain(29);
  for (const dhe of [0x9e, 0x9f, 0xa2, 0xa3, 0x33, 0x39, 0x67, 0x6b, 0xccaa, 0xc09e, 0xc09f])
    expect(suites).not.toContain(dhe);
  // From 256 on, finite fields.
  expect(groups.filter((group) => group >= 256 && group < 512)).toEqual([]);
});

/** Reads the cipher suites and the groups for exchanging keys that a client offers (RFC 8446, 4.1.2). */
function readClientHello(bytes: Buffer) {
  const numbers = (from: number, length: number) =>
    Array.from({ length: length / 2 }, (_, index) => bytes.readUInt16BE(from + 2 * index));
  // Heads of the record and the handshake, version, random bytes, session.
  const atSuites = 44 + bytes[43]!;
  const suites = numbers(atSuites + 2, bytes.readUInt16BE(atSuites));
  const atMethods = atSuites + 2 + 2 * suites.length;
  for (
    let at = atMethods + 1 + bytes[atMethods]! + 2;
    at < bytes.length;
    at += 4 + bytes.readUInt16BE(at + 2)
  )
    if (bytes.readUInt16BE(at) === 10) return { suites, groups: numbers(at + 6, bytes.readUInt16BE(at + 4)) };
  throw new Error('The client offers no groups.');
}

it('rejects a certificate without a trusted issuer', async () => {
  const server = createServer(selfSigned('127.0.0.1'), (_request, response) => response.end('secret'));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  servers.push({ close: () => new Promise((resolve) => server.close(() => resolve())) });
  const { port } = server.address() as AddressInfo;

  await expect(download(`https://127.0.0.1:${port}/`, {})).rejects.toMatchObject({
    code: 'SOURCE_UNREACHABLE',
    message: 'The source server could not be reached: its certificate is not valid.',
  });
});
