import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { Agent, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createDiskStorage } from '../../../../../functions/platform/local/disk-storage.ts';
import { createCoalescer } from '../../../../../functions/router/reuse.ts';
import { route } from '../../../../../functions/router/route.ts';
import { CONVERSION_LIMITS } from '../../../../../functions/shared/tool.ts';
import { assetsOf } from '../../../../../functions/site/html.ts';
import { createSite } from '../../../../../functions/site/site.ts';
import * as tools from '../../../../../functions/tools.ts';
import { createHttpServer } from '../../../../../infra/local/server/http/server.ts';
import { openStores, type Stores } from '../../../../../infra/local/stores.ts';
import { unlimited } from '../../../../functions/accounts.ts';
import { openTable } from '../../../../helpers/open-table.ts';

const ALL = Object.values(tools);
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
const assets = assetsOf({ script: '', style: '' });
/** Paths of every route, some that are none, and later the one of a result. */
const PATHS = [
  ...[
    '/',
    '/docs',
    ...ALL.map(({ name }) => `/docs/${name}`),
    '/support',
    '/llms.txt',
    '/site/check',
    '/none',
  ],
  ...['/account', '/account/sign-in', '/account/link', '/account/keys', '/account/sign-out', '/operator'],
  ...Object.values(assets).map(({ path }) => path),
  ...['/api', '/api/', '/api/uploads', '/api/usage', '/api/health', '/api/version', '/api/openapi.json'],
  ...['/api/file.png', '/api/none/x', '/files/a/b.png?expires=1&signature=x', '/files/'],
];
/** Maximum characters of a header. */
const HEADER_LENGTH = 8192;

let directory: string;
let stores: Stores;
let port: number;
let close: () => void;
/** Names of the headers that any code has read, except Node's. */
const read = new Set<string>();
/** Replies that began without a deadline for reading them, or without a mark that lets others have the connection. */
const unbounded: string[] = [];
let marked = 0;
const agent = new Agent({ keepAlive: true, maxSockets: 4 });

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'bounds-'));
  stores = openStores(directory);
  const log = () => {};
  const storage = createDiskStorage({
    directory: join(directory, 'results'),
    secret: Buffer.alloc(32),
    urlLifetime: 60,
    table: openTable(directory),
  });
  await mkdir(join(directory, 'results'));
  const results = storage.at('http://a.example/files');
  const path = join(directory, 'result');
  await writeFile(path, 'x');
  const contentType = 'image/png';
  const request = { prefix: `${'0'.repeat(32)}/`, maxBytes: 9, lifetime: 60_000, contentType, account: 'a' };
  const file = { path, name: 'a.png', contentType, bytes: 1 };
  const stored = await storage.put(await results.grant(request), file, new AbortController().signal);
  PATHS.push((await results.url(stored)).slice('http://a.example'.length));
  const dependencies: Parameters<typeof route>[1] = {
    ...unlimited,
    tools: ALL,
    keys: stores.keys,
    storage: results,
    uploads: storage.uploadsAt('http://a.example/api/uploads'),
    invoke: () => Promise.reject(new Error('No engine.')),
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'http://a.example/', supportUrl: 'http://a.example/' },
    corsOrigins: ['http://a.example'],
    log,
  };
  const { server, connections } = createHttpServer({
    log,
    storage,
    connections: 1000,
    texts: new Map([['/text', 'text']]),
    site: createSite({
      tools: ALL,
      assets,
      maxSource: 1,
      resultHours: 24,
      accounts: {
        ...stores,
        defaultLimits: {},
        signUp: 'open',
        sendMail: async () => {},
        origin: 'http://a.example',
        operation: undefined as never,
        callApi: async () => {},
        log,
      },
    }),
    route: (http, _origin, signal) => route(http, dependencies, signal),
  });
  const mark = connections.markReply;
  connections.markReply = (request) => {
    marked += 1;
    mark(request);
  };
  server.prependListener('request', (received: IncomingMessage, response: ServerResponse) => {
    observe(received, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
  close = () => {
    server.closeAllConnections();
    server.close();
  };
});

afterAll(async () => {
  vi.restoreAllMocks();
  agent.destroy();
  close();
  stores.close();
  await rm(directory, { recursive: true });
});

/** Notes which headers are read, and whether a reply begins without a bound. */
function observe(received: IncomingMessage, response: ServerResponse): void {
  const headers = received.headers;
  Object.defineProperty(received, 'headers', {
    value: new Proxy(headers, {
      get: (target, name) => {
        if (typeof name === 'string') read.add(name);
        return Reflect.get(target, name);
      },
    }),
  });
  const before = marked;
  let hasDeadline = false;
  const { setTimeout, writeHead } = response;
  response.setTimeout = (time, ...more) => {
    hasDeadline ||= time > 0;
    return setTimeout.call(response, time, ...more);
  };
  response.writeHead = ((...args: Parameters<typeof writeHead>) => {
    if (!hasDeadline || marked === before) unbounded.push(`${received.method} ${received.url}`);
    return writeHead.apply(response, args);
  }) as typeof writeHead;
}

function ask(method: string, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = requestHttp({ port, agent, method, path, headers }, (response) => {
      response.resume().once('close', () => resolve(response.statusCode!));
    });
    sent.once('error', reject).end();
  });
}

it('sends each reply with a deadline for reading it, and lets others have its connection', async () => {
  for (const path of PATHS)
    for (const method of METHODS) {
      const before = marked;
      await ask(method, path, { Accept: 'text/html, application/json', Origin: 'http://a.example' });
      if (marked === before) unbounded.push(`${method} ${path}`);
    }

  expect(unbounded).toEqual([]);
});

it('refuses each header that is longer than it reads, on every route', async () => {
  for (const name of ['accept', 'cookie', 'if-none-match', 'x-unknown']) read.add(name);
  const accepted: string[] = [];
  for (const path of PATHS)
    for (const name of read) {
      // Node rejects these by their syntax, or a longer one means something else.
      if (['host', 'content-length', 'transfer-encoding', 'expect', 'upgrade', 'connection'].includes(name))
        continue;
      const status = await ask(path.startsWith('/account/') ? 'POST' : 'GET', path, {
        [name]: 'x'.repeat(HEADER_LENGTH + 1),
      });
      if (status !== 431) accepted.push(`${path} ${name}: ${status}`);
    }

  // The list is made by the code that reads them.
  expect([...read]).toEqual(
    expect.arrayContaining(['authorization', 'x-api-key', 'origin', 'if-match', 'range']),
  );
  expect(accepted).toEqual([]);
});
