import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import {
  type EgressProxy,
  type ProxyCaps,
  startEgressProxy,
} from '../../../../../functions/engines/chromium/proxy/proxy.ts';
import { createEgressGuard, type EgressRules } from '../../../../../functions/shared/egress/guard.ts';
import { flood, type Listening, serveHttp, serveRaw } from '../../../../helpers/fault-server.ts';

const closing: { close(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map((each) => each.close()));
});

async function proxied(rules: EgressRules, caps: Partial<ProxyCaps> = {}): Promise<EgressProxy> {
  const proxy = await startEgressProxy(createEgressGuard(rules), { connect: 60_000, ...caps });
  closing.push(proxy);
  return proxy;
}

async function opened(server: Promise<Listening>): Promise<Listening> {
  closing.push(await server);
  return server;
}

/** Requests an absolute URL from the proxy, as a browser does for plain HTTP. */
function get(proxy: EgressProxy, address: string, headers: Record<string, string> = {}) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const options = { host: '127.0.0.1', port: proxy.port, path: address, headers, agent: false };
    request(options, async (response) => {
      resolve({ status: response.statusCode ?? 0, body: await text(response).catch(() => 'cut') });
    })
      .on('error', reject)
      .end();
  });
}

/** Opens a tunnel, sends bytes through it, and returns the response. */
function tunnel(proxy: EgressProxy, authority: string, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let came = '';
    const socket = connect(proxy.port, '127.0.0.1');
    socket.on('data', (chunk) => {
      if (came === '' && String(chunk).includes(' 200 ')) socket.write(bytes);
      came += chunk;
    });
    socket.on('error', () => {}).on('close', () => resolve(came));
    socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`);
  });
}

describe('the files of an uploaded page', () => {
  const served = async (rules: EgressRules = {}) => {
    const directory = await mkdtemp(join(tmpdir(), 'served-'));
    const file = join(directory, 'all');
    await writeFile(file, '<p>PAGEstylesecret');
    const files = new Map([
      ['page', { file, start: 0, bytes: 7, page: { isEncoded: false } }],
      ['css/a b.css', { file, start: 7, bytes: 5 }],
      ['none', { file, start: 12, bytes: 0 }],
    ]);
    const proxy = await startEgressProxy(createEgressGuard(rules), {}, [], 'one', {
      host: 'upload.invalid',
      files,
    });
    closing.push(proxy, { close: () => rm(directory, { recursive: true }) });
    return proxy;
  };

  it.each([
    ['http://upload.invalid/page', 200, '<p>PAGE'],
    ['http://upload.invalid/css/a%20b.css?v=1', 200, 'style'],
    ['http://upload.invalid/none', 200, ''],
    ['http://upload.invalid/css/../css/a%20b.css', 200, 'style'],
    ['http://upload.invalid/', 404, ''],
    ['http://upload.invalid/../all', 404, ''],
    ['http://upload.invalid/%2e%2e%2fall', 404, ''],
    ['http://upload.invalid:8080/page', 403, ''],
    ['http://other.invalid/page', 403, ''],
  ])('are served by path: %s', async (url, status, body) => {
    expect(await get(await served(), url)).toEqual({ status, body });
  });

  it('are only read', async () => {
    const proxy = await served();

    const status = await new Promise((resolve) => {
      request(
        { host: '127.0.0.1', port: proxy.port, path: 'http://upload.invalid/page', method: 'POST' },
        (response) => resolve(response.resume().statusCode),
      ).end('x');
    });

    expect(status).toBe(405);
  });
});

describe('the egress proxy', () => {
  it('forwards plain HTTP with the loop header and without proxy headers', async () => {
    const { port, origin } = await opened(
      serveHttp((incoming, response) => response.end(JSON.stringify([incoming.url, incoming.headers]))),
    );
    const proxy = await proxied({ exceptions: [`127.0.0.1:${port}`] });

    const { status, body } = await get(proxy, `${origin}/a?b=c`, {
      'proxy-authorization': 'Basic secret',
      'x-page': 'yes',
    });

    const [url, headers] = JSON.parse(body);
    expect([status, url]).toEqual([200, '/a?b=c']);
    expect(headers).toMatchObject({ host: `127.0.0.1:${port}`, 'cdn-loop': 'docmill', 'x-page': 'yes' });
    expect(body).not.toContain('secret');
  });

  it('opens tunnels, and passes bytes both ways', async () => {
    const { port } = await opened(
      serveRaw((socket) => socket.once('data', (chunk) => socket.end(`got ${chunk}`))),
    );
    const proxy = await proxied({ exceptions: [`127.0.0.1:${port}`] });

    const came = await tunnel(proxy, `127.0.0.1:${port}`, 'hello');

    expect(came).toBe('HTTP/1.1 200 OK\r\n\r\ngot hello');
  });

  it('rejects what the guard rejects, and knows why', async () => {
    const prize = await opened(serveHttp((_incoming, response) => response.end('secret')));
    const proxy = await proxied({ ports: [prize.port] });
    const hosts = [
      '127.0.0.1',
      'localhost',
      '[::1]',
      '[::ffff:127.0.0.1]',
      '0.0.0.0',
      '2130706433',
      '0x7f.1',
    ];

    const answers = await Promise.all(
      hosts.flatMap((host) => [
        get(proxy, `http://${host}:${prize.port}/`).then(({ status, body }) => `${status} ${body}`),
        tunnel(proxy, `${host}:${prize.port}`, 'GET / HTTP/1.0\r\n\r\n').then((came) => came.slice(9, 13)),
      ]),
    );

    expect(new Set(answers)).toEqual(new Set(['403 ']));
    expect(prize.connections()).toBe(0);
    expect(proxy.failureOf(`http://127.0.0.1:${prize.port}/x`)).toMatchObject({ code: 'BLOCKED_ADDRESS' });
    expect(proxy.failureOf('https://never-asked.example/')).toBeUndefined();
  });

  it('rejects requests that are not proxy requests', async () => {
    const proxy = await proxied({});

    const statuses = await Promise.all(
      ['/', '/etc/passwd', 'https://8.8.8.8/', 'ftp://8.8.8.8/', 'file:///etc/passwd', '*'].map(
        async (path) => (await get(proxy, path)).status,
      ),
    );
    const tunnels = await Promise.all(
      ['user@8.8.8.8:443', '8.8.8.8:443/path', 'http://8.8.8.8:443'].map((authority) =>
        tunnel(proxy, authority, ''),
      ),
    );

    expect(new Set(statuses)).toEqual(new Set([400]));
    for (const came of tunnels) expect(came).toMatch(/^HTTP\/1.1 400 /);
  });

  it('looks up a host once and keeps the addresses', async () => {
    const { port } = await opened(serveHttp((_incoming, response) => response.end('public')));
    let asked = 0;
    const resolve = async () => {
      asked += 1;
      return ['127.0.0.1'];
    };
    const proxy = await proxied({ resolve, exceptions: [`page.example:${port}`] });

    const bodies = [];
    for (let round = 0; round < 3; round++)
      bodies.push((await get(proxy, `http://page.example:${port}/`)).body);

    expect(bodies).toEqual(['public', 'public', 'public']);
    expect(asked).toBe(1);
  });

  it('never connects to a name that resolves to a public address first and to loopback next, in 200 tries', async () => {
    const prize = await opened(serveHttp((_incoming, response) => response.end('secret')));
    let asked = 0;
    const resolve = async () => [asked++ % 2 === 0 ? '192.0.3.1' : '127.0.0.1'];
    const egress = createEgressGuard({ resolve, ports: [prize.port] });
    const address = `http://page.example:${prize.port}/`;

    for (let round = 0; round < 200; round++) {
      const checked = await egress.check(address).catch(() => undefined);
      const proxy = await startEgressProxy(egress, { connect: 1 }, checked ? [checked] : []);
      const answers = await Promise.all([get(proxy, address), get(proxy, address)]);
      expect(answers.map(({ status }) => status)).toEqual([403, 403]);
      await proxy.close();
    }

    expect(asked).toBeGreaterThanOrEqual(200);
    expect(prize.connections()).toBe(0);
  });

  it('stops at its limits and reports it', async () => {
    const { port, origin } = await opened(
      serveHttp((_incoming, response) => response.end(Buffer.alloc(100_000, 'x'))),
    );
    const rules = { exceptions: [`127.0.0.1:${port}`] };
    const byBytes = await proxied(rules, { bytes: 150_000 });
    const byRequests = await proxied(rules, { requests: 2 });

    const outcomes = [];
    for (const proxy of [byBytes, byRequests]) {
      for (let round = 0; round < 4; round++) {
        outcomes.push(
          await get(proxy, origin).then(
            ({ body }) => body.length,
            () => 'cut',
          ),
        );
      }
    }

    expect(outcomes.filter((outcome) => outcome === 100_000)).toHaveLength(3);
    expect(byBytes.exceeded.reason).toMatchObject({
      code: 'SOURCE_TOO_LARGE',
      message: 'The page and its resources exceed the limit of 0.15 MB.',
    });
    expect(byRequests.exceeded.reason).toMatchObject({ code: 'SOURCE_TOO_LARGE' });
  });

  it('gives up a server that floods it with interim responses', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1000);
    const { port, origin } = await opened(serveRaw((socket) => flood(socket, '', interim)));
    const proxy = await proxied({ exceptions: [`127.0.0.1:${port}`] });

    const { status } = await get(proxy, `${origin}/`);

    expect(status).toBe(403);
    expect(proxy.failureOf(`${origin}/`)).toMatchObject({ message: expect.stringContaining('interim') });
  });

  it('gives up a server that sends one byte in each chunk', async () => {
    const head = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';
    const { port, origin } = await opened(
      serveRaw((socket) => flood(socket, head, '1\r\nx\r\n'.repeat(5000))),
    );
    const proxy = await proxied({ exceptions: [`127.0.0.1:${port}`] });

    const { body } = await get(proxy, `${origin}/`);

    expect(body).toBe('cut');
  });

  it('ends every connection when it closes', async () => {
    let received = 0;
    const { port } = await opened(serveRaw((socket) => socket.once('data', () => (received += 1))));
    const proxy = await startEgressProxy(createEgressGuard({ exceptions: [`127.0.0.1:${port}`] }));
    const open = tunnel(proxy, `127.0.0.1:${port}`, 'hello');
    const waiting = get(proxy, `http://127.0.0.1:${port}/`).catch(() => 'cut');
    await expect.poll(() => received).toBe(2);

    await proxy.close();

    expect(await open).toBe('HTTP/1.1 200 OK\r\n\r\n');
    expect(await waiting).toBe('cut');
  });
});
