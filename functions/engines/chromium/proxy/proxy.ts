import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { CheckedUrl, EgressGuard } from '../../../shared/egress/guard.ts';
import { ConversionError, megabytes } from '../../../shared/errors.ts';
import { createFairQueue } from '../../../shared/fair-queue.ts';
import { areTinyChunks, pace } from '../../../shared/source/body.ts';
import {
  CDN_LOOP,
  limitInterimResponses,
  READ_AHEAD,
  unreachableError,
} from '../../../shared/source/request.ts';
import { startArrivalTimer } from '../../../shared/time.ts';
import { splice } from './relay.ts';
import { type ServedFiles, serveUploaded } from './served-files.ts';

/** Limits of one page's network use. */
export interface ProxyCaps {
  readonly requests: number;
  /** Maximum bytes sent and received. */
  readonly bytes: number;
  /** Timeout for connecting to a host, in milliseconds. */
  readonly connect: number;
  /** Maximum number of concurrent name lookups. */
  readonly lookups: number;
}

const PROXY_CAPS: ProxyCaps = { requests: 3000, bytes: 250_000_000, connect: 5000, lookups: 16 };

/** Maximum bytes of the headers of a request or response, as in Chromium. */
const HEADER_SIZE = 262_144;

export interface EgressProxy {
  /** Port on 127.0.0.1. */
  readonly port: number;
  /** Aborts when the page exceeds the limits, with a `SOURCE_TOO_LARGE` as its reason. */
  readonly exceeded: AbortSignal;
  /** Returns why the host of a URL was not reached, or `undefined` if it was reached or not requested. */
  failureOf(url: string): ConversionError | undefined;
  /** Closes every connection. */
  close(): Promise<void>;
}

/**
 * Starts a loopback proxy for one conversion, which is the browser context's only way to the network. `checked` hosts
 * are not resolved again, and `served` files are sent from disk. Written by hand because proxy libraries resolve
 * names themselves, whereas this one checks each host once and connects to the IP addresses that it checked.
 */
export async function startEgressProxy(
  egress: EgressGuard,
  caps: Partial<ProxyCaps> = {},
  checked: readonly CheckedUrl[] = [],
  account = '',
  served?: ServedFiles,
): Promise<EgressProxy> {
  const { requests, bytes, connect, lookups } = { ...PROXY_CAPS, ...caps };
  const server = createServer({ maxHeaderSize: HEADER_SIZE });
  const sockets = new Set<Duplex>();
  const checks = new Map(checked.map((source) => [hostAndPort(source.url), Promise.resolve(source)]));
  const failures = new Map<string, ConversionError>();
  const exceeded = new AbortController();
  const lookupQueue = createFairQueue({ total: lookups, perAccount: lookups });
  const closed = new AbortController();
  const { signal } = closed;
  const check = (url: URL) =>
    lookupQueue.run('', () => egress.check(url.origin, { account, signal }), signal);
  let requestCount = 0;
  let moved = 0;

  const exceed = (what: string) => {
    const message = `The page and its resources exceed the limit of ${what}.`;
    const error = new ConversionError('SOURCE_TOO_LARGE', message);
    exceeded.abort(error);
    closed.abort(error);
    for (const socket of sockets) socket.destroy();
  };
  const track = (socket: Duplex) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const count = (stream: Duplex | IncomingMessage) => {
    let [chunks, own] = [0, 0];
    stream.on('data', (chunk: Buffer) => {
      chunks += 1;
      own += chunk.length;
      if (areTinyChunks(chunks, own)) stream.destroy();
      moved += chunk.length;
      if (moved > bytes) exceed(megabytes(bytes));
    });
  };
  /** Checks a host once per conversion. Its IP addresses stay the same until the end. */
  const admit = (url: URL): Promise<CheckedUrl> => {
    requestCount += 1;
    if (requestCount > requests) exceed(`${requests} resources`);
    exceeded.signal.throwIfAborted();
    const place = hostAndPort(url);
    const known = checks.get(place) ?? check(url);
    checks.set(place, known);
    return known;
  };
  const fail = (url: URL, error: unknown) => failures.set(hostAndPort(url), unreachableError(error));

  async function tunnel(authority: string, client: Socket, head: Buffer): Promise<void> {
    const url = /^[^/?#@\\\s]+$/.test(authority) ? URL.parse(`https://${authority}`) : null;
    if (!url) return void client.end('HTTP/1.1 400 Bad Request\r\n\r\n');
    try {
      const checked = await admit(url);
      if (client.destroyed) return;
      const upstream = egress.connect(checked);
      track(upstream);
      client.on('close', () => upstream.destroy());
      await connected(upstream, connect);
      client.write('HTTP/1.1 200 OK\r\n\r\n');
      count(client);
      count(upstream);
      upstream.write(head);
      splice(client, upstream);
    } catch (error) {
      fail(url, error);
      client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    }
  }

  async function forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = URL.parse(request.url ?? '');
    if (url?.protocol !== 'http:') return void response.writeHead(400).end();
    if (served && url.host === served.host) return serveUploaded(url, request, response, served);
    try {
      const { host, port, lookup } = await admit(url);
      const upstream = requestHttp({
        host,
        port,
        lookup,
        agent: false,
        ...READ_AHEAD,
        maxHeaderSize: HEADER_SIZE,
        method: request.method,
        path: url.pathname + url.search,
        headers: { ...endToEnd(request.headers), host: url.host, 'cdn-loop': CDN_LOOP },
      });
      limitInterimResponses(upstream);
      upstream.on('socket', (socket) => {
        track(socket);
        connected(socket, connect).catch((error) => upstream.destroy(error));
      });
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        upstream.once('response', resolve).once('error', reject);
        upstream.once('close', () => reject(new Error('closed without a response')));
        response.once('close', () => upstream.destroy());
        count(request);
        request.pipe(upstream);
      });
      answer.on('error', () => response.destroy());
      answer.on('close', () => answer.complete || response.destroy());
      count(answer);
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.pipe(pace()).pipe(response);
    } catch (error) {
      fail(url, error);
      if (response.headersSent) return void response.destroy();
      response.writeHead(403, { 'content-length': 0 }).end();
    }
  }

  server.on('connection', track);
  server.on('connect', (request, client, head) => tunnel(request.url ?? '', client as Socket, head));
  server.on('request', forward);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    exceeded: exceeded.signal,
    failureOf: (failed) => {
      const url = URL.parse(failed);
      return url ? failures.get(hostAndPort(url)) : undefined;
    },
    close: () => {
      closed.abort(new Error('The proxy is closed.'));
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

/** Returns host and port without the scheme, which is unknown inside a tunnel. */
function hostAndPort({ hostname, port, protocol }: URL): string {
  return `${hostname}:${port || (/^(https|wss):$/.test(protocol) ? 443 : 80)}`;
}

function connected(socket: Socket, time: number): Promise<void> {
  if (!socket.connecting) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const timer = startArrivalTimer(time, () => reject(new Error('connect timed out')));
    const settle = (error?: Error) => {
      timer.stop();
      if (error) return reject(error);
      resolve();
    };
    socket.once('connect', () => settle()).once('error', settle);
    socket.once('close', () => settle(new Error('closed while connecting')));
  });
}

const HOP_BY_HOP = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Removes headers that apply to a single connection (RFC 9110, 7.6.1). */
function endToEnd(headers: IncomingMessage['headers']): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP_BY_HOP.has(name) ? [] : [[name, value]],
    ),
  );
}
