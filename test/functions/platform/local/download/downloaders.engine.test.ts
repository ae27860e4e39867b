import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { processTree, readProcess } from '../../../../../functions/engines/worker/linux/proc.ts';
import { Downloaders } from '../../../../../functions/platform/local/download/downloaders.ts';
import type { ConversionError } from '../../../../../functions/shared/errors.ts';
import { CODE } from '../../../../../infra/local/server/temporary.ts';
import { build as buildFonts } from '../../../../../layers/fonts/build.ts';
import { build } from '../../../../../layers/sandbox/build.ts';

const layers = join(import.meta.dirname, '../../../../../dist/layers');
const logged: string[] = [];
let temporary: string;
let server: Server;
let origin: string;
let downloaders: Downloaders;
/** Answers the next requests. */
let respond: RequestListener;

beforeAll(async () => {
  vi.stubEnv('NODE_COMPILE_CACHE', '');
  const progress = () => undefined;
  await buildFonts({ into: join(layers, 'fonts'), progress });
  await build({ into: join(layers, 'sandbox'), progress });
  server = createServer((request, response) => respond(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  origin = `http://127.0.0.1:${port}`;
  temporary = await mkdtemp(join(tmpdir(), 'downloaders-'));
  downloaders = createDownloaders(3);
  await downloaders.warm();
});

beforeEach(() => {
  logged.length = 0;
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await downloaders.close();
  server.closeAllConnections();
  server.close();
  // Compiled code is kept for the processes that follow.
  expect(await readdir(temporary)).toEqual(['compile-cache']);
  await rm(temporary, { recursive: true });
});

/** Creates downloaders with at most `max` processes. */
function createDownloaders(max: number): Downloaders {
  const settings = { layers, code: CODE, size: 1, dnsServers: [], ownHosts: [`at-most-${max}`] };
  return new Downloaders(
    { ...settings, exceptions: [new URL(origin).host] },
    { temporary, max, log: (event) => logged.push(event) },
  );
}

/** Returns the processes of downloaders with at most `max` processes. */
function processes(max = 3): number[] {
  return processTree(process.pid).filter((pid) => readProcess(pid, 'cmdline').includes(`at-most-${max}`));
}

async function download({
  account = 'a',
  signal = new AbortController().signal,
  bytes = 1000,
  by = downloaders,
} = {}) {
  const directory = await mkdtemp(join(tmpdir(), 'downloaded-'));
  const options = { directory, account, signal, limits: { sourceBytes: bytes } };
  return by.download(`${origin}/some/name.txt`, options).finally(async () => {
    files.push(await readdir(directory));
    texts.push(await readFile(join(directory, 'source'), 'utf8').catch(() => ''));
    await rm(directory, { recursive: true });
  });
}

const files: string[][] = [];
const texts: string[] = [];

it('puts a source into the directory of its conversion', async () => {
  respond = (_request, response) => response.setHeader('Content-Type', 'text/plain').end('downloaded');

  const source = await download();

  expect(source).toMatchObject({ name: 'name.txt', contentType: 'text/plain', bytes: 10 });
  expect(source.path).toMatch(/\/source$/);
  expect(files.at(-1)).toEqual(['source']);
  expect(texts.at(-1)).toBe('downloaded');
});

it('decodes a source that was compressed', async () => {
  respond = (_request, response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync('decoded'));

  await download();

  expect(files.at(-1)).toEqual(['source']);
  expect(texts.at(-1)).toBe('decoded');
});

it('looks up a host name, and never reports an unknown one as an internal error', async () => {
  const { signal } = new AbortController();

  expect(await downloaders.resolve('localhost', signal, 'a')).not.toEqual([]);
  await expect(downloaders.resolve('x.invalid.', signal, 'a')).rejects.toMatchObject({
    code: 'BLOCKED_ADDRESS',
  });
});

it('passes errors on by their code', async () => {
  respond = (_request, response) => response.writeHead(404).end('not found');

  await expect(download()).rejects.toMatchObject({ name: 'ConversionError', code: 'SOURCE_STATUS' });

  expect(files.at(-1)).toEqual([]);
});

it('passes the cause of an error on, for the log', async () => {
  respond = (request) => request.socket.resetAndDestroy();

  const error = await download().catch((thrown: ConversionError) => thrown);

  expect(error).toMatchObject({ code: 'SOURCE_UNREACHABLE', cause: expect.stringContaining('ECONNRESET') });
});

it('limits the bytes of a source', async () => {
  respond = (_request, response) => response.end('x'.repeat(2000));

  await expect(download()).rejects.toMatchObject({ code: 'SOURCE_TOO_LARGE' });
});

it('closes the connection of a download that is cancelled', async () => {
  const stop = new AbortController();
  const closed = new Promise((resolve) => {
    respond = (request) => {
      request.socket.once('close', resolve);
      stop.abort();
    };
  });

  await expect(download({ signal: stop.signal })).rejects.toMatchObject({ code: 'TIMED_OUT' });
  await closed;

  expect(logged).toEqual([]);
});

it('downloads for several callers of an account at the same time, and for two accounts in two processes', async () => {
  const held: Array<() => void> = [];
  respond = (_request, response) => held.push(() => response.end('held'));
  const all = ['a', 'a', 'a', 'b'].map((account) => download({ account }));

  await expect.poll(() => held).toHaveLength(4);
  // Two of them download, and one waits for the next account.
  await expect.poll(() => processes()).toHaveLength(3);
  for (const end of held) end();
  await Promise.all(all);
});

describe('a process that is killed', () => {
  let single: Downloaders;
  beforeEach(() => {
    single = createDownloaders(1);
  });
  afterEach(() => single.close());
  const killAll = () => {
    for (const pid of processes(1)) process.kill(pid, 'SIGKILL');
  };

  it('does not end its downloads', async () => {
    let requests = 0;
    respond = (_request, response) => {
      requests += 1;
      if (requests === 1) killAll();
      else response.end('again');
    };

    const { bytes } = await download({ by: single });

    expect(bytes).toBe(5);
    expect(requests).toBe(2);
    // A spare process, which was killed too, may have been taken before its exit was noticed.
    expect([...new Set(logged)]).toEqual(['download process exited']);
  });

  it('ends a download that kills each of its processes', async () => {
    respond = killAll;

    await expect(download({ by: single })).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});
