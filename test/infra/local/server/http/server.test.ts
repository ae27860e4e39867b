import { once } from 'node:events';
import { Agent, request, type Server } from 'node:http';
import { type AddressInfo, BlockList, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { DiskStorage } from '../../../../../functions/platform/local/disk-storage.ts';
import type { HttpRequest } from '../../../../../functions/router/http.ts';
import { paceUpload } from '../../../../../functions/router/uploads/body.ts';
import { createHttpServer } from '../../../../../infra/local/server/http/server.ts';

let server: Server;

afterEach(() => {
  vi.useRealTimers();
  server.close();
});

/** Prevents that a connection is closed because its body has been ignored for too long. */
function stopTimeouts(): void {
  vi.useFakeTimers({ toFake: ['setTimeout'] });
}

/** Reads the beginning of a body, as a router does that refuses the call. */
async function readBeginning({ body }: HttpRequest): Promise<void> {
  const paced = paceUpload(body!);
  await once(paced, 'readable');
  paced.destroy();
}

/** Starts a server whose reply, after it has called `read`, is the base URL that results would get. */
async function startEcho(
  publicUrl?: string,
  read: (request: HttpRequest) => Promise<void> = async () => {},
): Promise<string> {
  ({ server } = createHttpServer({
    log: () => {},
    connections: 100,
    publicUrl,
    texts: new Map(),
    storage: undefined as never,
    route: async (request, base) => {
      await read(request);
      return { status: 200, headers: {}, body: base };
    },
  }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

it('logs why a response failed', async () => {
  const causes: unknown[] = [];
  ({ server } = createHttpServer({
    log: (event, { cause } = {}) => causes.push(event, cause),
    connections: 100,
    texts: new Map(),
    storage: undefined as never,
    route: () => Promise.reject(new Error('no reply')),
  }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  await expect(fetch(`http://127.0.0.1:${port}/api/`)).rejects.toThrow();

  expect(causes).toEqual(['response failed', expect.stringContaining('no reply')]);
});

describe('headers', () => {
  const send = async (headers: Record<string, string | string[]>) => {
    const { port } = new URL(await startEcho());
    const sent = request({ port, host: '127.0.0.1', path: '/api/', headers, agent: false });
    sent.end();
    const [response] = await once(sent, 'response');
    return { status: response.statusCode, body: await text(response) };
  };

  it.each(['accept', 'cookie', 'if-none-match', 'range', 'x-unknown'])(
    'are rejected if one is longer than 8192 characters: %s',
    async (name) => {
      const longest = await send({ [name]: ','.repeat(8192) });
      server.close();
      const longer = await send({ [name]: ','.repeat(8193) });

      expect(longest.status).toBe(200);
      expect(longer).toEqual({ status: 431, body: expect.stringContaining('longer than 8192 characters') });
    },
  );

  it('are rejected if they name two hosts', async () => {
    const { port } = new URL(await startEcho());
    const socket = connect(Number(port), '127.0.0.1');
    socket.end('GET /api/ HTTP/1.1\r\nHost: a.example\r\nhost: b.example\r\nConnection: close\r\n\r\n');

    const reply = await text(socket);

    expect(reply).toMatch(/^HTTP\/1\.1 400 /);
    expect(reply).toContain('only one Host header');
  });
});

describe('the IP address of a caller', () => {
  const callerBehind = async (proxy: string, proxies: BlockList) => {
    let ip: string | undefined;
    ({ server } = createHttpServer({
      log: () => {},
      connections: 100,
      proxies,
      texts: new Map(),
      storage: undefined as never,
      route: async (request) => {
        ip = request.ip;
        return { status: 200, headers: {}, body: '' };
      },
    }));
    // Another peer than this machine, as the server sees it.
    server.prependListener('connection', (socket: Socket) =>
      Object.defineProperty(socket, 'remoteAddress', { value: proxy }),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const headers = { 'X-Forwarded-For': '198.51.100.1, 203.0.113.5' };
    await (await fetch(`http://127.0.0.1:${port}/api/`, { headers })).text();
    return ip;
  };
  const docker = new BlockList();
  docker.addSubnet('172.16.0.0', 12);

  it.each([
    ['127.0.0.1', '203.0.113.5'],
    ['::ffff:127.0.0.1', '203.0.113.5'],
    ['172.18.0.3', '203.0.113.5'],
    ['::ffff:172.18.0.3', '203.0.113.5'],
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
  ])('behind %s is %s', async (proxy, ip) => {
    expect(await callerBehind(proxy, docker)).toBe(ip);
  });
});

describe('what is not a request', () => {
  const answerTo = async (bytes: string, read?: () => Promise<void>) => {
    const { port } = new URL(await startEcho(undefined, read));
    const socket = connect(Number(port), '127.0.0.1');
    socket.end(bytes);
    return (await text(socket)).split('\r\n');
  };

  it('is refused, with the reason if a URL is not encoded', async () => {
    const raw = await answerTo('GET /api/?infile=http://a.example/Größe.docx HTTP/1.1\r\nHost: a\r\n\r\n');

    expect(raw[0]).toBe('HTTP/1.1 400 Bad Request');
    expect(raw.at(-1)).toMatch(/^\[ERROR\] Characters outside of ASCII .* \(BAD_PARAMETER\)$/);
  });

  it('is refused with the status that says why', async () => {
    const tooLong = `GET /${'x'.repeat(70_000)} HTTP/1.1\r\nHost: a\r\n\r\n`;

    expect((await answerTo('nonsense\r\n\r\n'))[0]).toBe('HTTP/1.1 400 Bad Request');
    expect((await answerTo(tooLong))[0]).toBe('HTTP/1.1 431 Request Header Fields Too Large');
  });

  it.each([
    ['not a request', 'nonsense\r\n\r\n', '400 Bad Request'],
    [
      'a long header',
      `GET / HTTP/1.1\r\nX: ${'x'.repeat(70_000)}\r\n\r\n`,
      '431 Request Header Fields Too Large',
    ],
    [
      'a body',
      'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n',
      '400 Bad Request',
    ],
  ])('is refused after the reply to the request before it: %s', async (_, bytes, status) => {
    const { promise: hasFailed, resolve } = Promise.withResolvers<void>();
    const { port } = new URL(await startEcho(undefined, () => hasFailed));
    server.once('clientError', () => resolve());
    const socket = connect(Number(port), '127.0.0.1');

    socket.write(`GET /api/ HTTP/1.1\r\nHost: a\r\n\r\n${bytes}`);

    const replies = (await text(socket)).split(/(?=HTTP\/1\.1 )/);
    expect(replies[0]).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)+http:\/\/a$/);
    expect(replies.at(-1)).toMatch(new RegExp(`^HTTP/1\\.1 ${status}\r\n`));
  });

  it('is refused at once if it is the body of a request', async () => {
    const chunked = 'POST /api/ HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n\r\n';

    const reply = await answerTo(chunked, () => new Promise(() => {}));

    expect(reply[0]).toBe('HTTP/1.1 400 Bad Request');
  });
});

describe('a body that nobody reads', () => {
  it('does not keep its sender from reading the reply', async () => {
    const origin = await startEcho();

    const reply = await fetch(origin, { method: 'POST', body: new Uint8Array(20_000_000) });

    expect(await reply.text()).toBe(origin);
  });

  it.each([
    [100, 'not read', async () => {}],
    [70_000, 'not read', async () => {}],
    [1_000_000, 'not read', async () => {}],
    [1_000_000, 'not read to its end', readBeginning],
  ])('of %d bytes, %s, leaves its connection to the next request', async (bytes, _, read) => {
    stopTimeouts();
    const origin = await startEcho(undefined, read);
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const post = () =>
      new Promise<Socket>((resolve, reject) => {
        const sent = request(origin, { method: 'POST', agent }, (response) => {
          const { socket } = response;
          response.resume().once('end', () => resolve(socket));
        });
        sent.once('error', reject).end(Buffer.alloc(bytes));
      });

    const first = await post();
    await setTimeout(50);

    expect(await post()).toBe(first);
    agent.destroy();
  });

  it.each(['', 'Expect: x\r\n'])(
    'is forgotten only until too many tiny chunks were sent (%j)',
    async (expectation) => {
      stopTimeouts();
      const { port } = new URL(await startEcho());
      const socket = connect(Number(port), '127.0.0.1');
      const closed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => {}).resume();
      socket.write(`POST /api/ HTTP/1.1\r\nHost: a\r\n${expectation}Transfer-Encoding: chunked\r\n\r\n`);
      const tiny = '1\r\nx\r\n'.repeat(10_000);
      const sending = setInterval(() => socket.write(tiny), 5);

      await closed;
      clearInterval(sending);
    },
  );

  it('is forgotten although many others of the same address are not sent to their end', async () => {
    const origin = await startEcho();
    const { port } = new URL(origin);
    const sockets = Array.from({ length: 20 }, () =>
      connect(Number(port), '127.0.0.1').on('error', () => {}),
    );
    const head = 'POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n';
    const replies = sockets.map(async (socket) => {
      socket.write(head);
      const [reply] = await once(socket, 'data');
      return String(reply).split('\r\n')[0];
    });

    expect(new Set(await Promise.all(replies))).toEqual(new Set(['HTTP/1.1 200 OK']));
    for (const socket of sockets) socket.destroy();

    // Reads the reply once it has sent everything.
    const large = connect(Number(port), '127.0.0.1');
    large.write('POST /api/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 20000000\r\n\r\n');
    await new Promise((resolve, reject) => {
      large.on('error', reject).write(new Uint8Array(20_000_000), resolve);
    });
    expect(await text(large)).toMatch(/^HTTP\/1\.1 200 OK/);
  });

  it('that never ends is cut off five seconds after the reply', async () => {
    const { port } = new URL(await startEcho());
    stopTimeouts();
    const socket = connect(Number(port), '127.0.0.1');
    const reply = text(socket);
    socket.write('POST /api/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n');
    while (vi.getTimerCount() === 0) await setTimeout(5);

    vi.advanceTimersByTime(4999);
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1);

    expect(await reply).toMatch(/^HTTP\/1\.1 200 OK/);
  });
});

it('passes on one parameter more than a request may have', async () => {
  let received = 0;
  ({ server } = createHttpServer({
    log: () => {},
    connections: 100,
    texts: new Map(),
    storage: undefined as never,
    route: async ({ query }) => {
      received = query.length;
      return { status: 200, headers: {}, body: '' };
    },
  }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/?${'&a'.repeat(30_000)}`);

  expect(received).toBe(501);
});

it('lets requests of one network take turns with those of others, whatever they request', async () => {
  const order: string[] = [];
  const work = (ip = '') => {
    for (const end = performance.now() + 6; performance.now() < end; );
    order.push(ip);
  };
  ({ server } = createHttpServer({
    log: () => {},
    connections: 100,
    texts: new Map(),
    storage: undefined as never,
    site: {
      respond: async ({ ip, path }) => (path === '/account' ? void work(ip) : undefined),
    },
    route: async () => ({ status: 200, headers: {}, body: '' }),
  }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: 41 }, () => connect(port, '127.0.0.1'));
  // The server accepts few connections at a time.
  await Promise.all(
    sockets.map((socket) => {
      socket.write('GET /api/ HTTP/1.1\r\nHost: x\r\n\r\n');
      return once(socket, 'data');
    }),
  );
  const headers = (ip: string) => `Host: x\r\nX-Forwarded-For: ${ip}\r\nConnection: close\r\n\r\n`;

  for (const [index, socket] of sockets.entries())
    socket.write(`GET /account HTTP/1.1\r\n${headers(index === 40 ? '192.0.2.2' : '192.0.2.1')}`);
  await Promise.all(sockets.map((socket) => text(socket)));

  expect(order).toHaveLength(41);
  expect(order.indexOf('192.0.2.2')).toBeLessThan(10);
});

describe('the base of result URLs', () => {
  it('is the host that the caller used', async () => {
    const origin = await startEcho();

    expect(await (await fetch(`${origin}/api/`)).text()).toBe(origin);
  });

  it('is this machine for a host that is none', async () => {
    const { port } = new URL(await startEcho());
    const socket = connect(Number(port), '127.0.0.1');
    socket.end('GET /api/ HTTP/1.1\r\nHost: x:99999\r\nConnection: close\r\n\r\n');

    expect(await text(socket)).toContain(`http://localhost:${port}`);
  });

  it('is PUBLIC_URL behind a proxy', async () => {
    const origin = await startEcho('https://convert.example.com');

    expect(await (await fetch(`${origin}/api/`)).text()).toBe('https://convert.example.com');
  });
});

it('lets nobody keep the reply for a file that has been deleted', async () => {
  ({ server } = createHttpServer({
    log: () => {},
    connections: 100,
    texts: new Map(),
    storage: { open: async () => ({ status: 404 }) } as unknown as DiskStorage,
    route: async (_, base) => ({
      status: 200,
      headers: { 'Cache-Control': 'public, max-age=60' },
      body: new URL(`${base}/files/a/b.png?expires=1&signature=x`),
    }),
  }));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const reply = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/api/`);

  expect([reply.status, reply.headers.get('cache-control')]).toEqual([404, 'no-store']);
});
