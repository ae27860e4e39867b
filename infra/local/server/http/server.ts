import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type BlockList, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import type { DiskStorage } from '../../../../functions/platform/local/disk-storage.ts';
import { decodeQuery, FILES_PATH, type HttpRequest, takesBody } from '../../../../functions/router/http.ts';
import type { HttpReply } from '../../../../functions/router/reply.ts';
import { takeTurn } from '../../../../functions/router/turn.ts';
import { createFairQueue } from '../../../../functions/shared/fair-queue.ts';
import { describe, type Log } from '../../../../functions/shared/log.ts';
import { areTinyChunks } from '../../../../functions/shared/source/body.ts';
import type { Site } from '../../../../functions/site/site.ts';
import { networkCaller } from './callers.ts';
import { boundConnections, type Connections } from './connections.ts';
import { serveFile } from './files.ts';

interface Dependencies {
  /** See `Settings`. */
  readonly publicUrl?: string | undefined;
  /** Handles a request for a conversion. `origin` is the one that the caller used. */
  readonly route: (request: HttpRequest, origin: string, signal: AbortSignal) => Promise<HttpReply>;
  readonly storage: DiskStorage;
  /** The site. Without it, the URLs in the response to a missing key lead to `texts`. */
  readonly site?: Site | undefined;
  /** Plain text pages by path. */
  readonly texts: ReadonlyMap<string, string>;
  /** Maximum number of connections. */
  readonly connections: number;
  /** Proxies whose `X-Forwarded-For` is believed, besides those on this machine. */
  readonly proxies?: BlockList | undefined;
  /** Returns the caller whose requests take turns. Defaults to the network. */
  readonly callerOf?: (request: IncomingMessage, ip: string | undefined) => string;
  readonly log: Log;
}

/** Maximum bytes of headers. A query may contain a URL of 8000 characters, each encoded as `%XX`. */
const HEADER_BYTES = 64 * 1024;
const HEADERS = 100;
/** Maximum characters of one header, so that reading it costs less than a millisecond. */
const HEADER_LENGTH = 8192;
/** Timeout in milliseconds for the headers of a request. The router limits the time of bodies. */
const HEADERS_TIME = 15_000;
/**
 * How long a body is received and ignored after the reply, in milliseconds, so that a client that is still sending
 * gets to read the reply.
 */
const IGNORE_TIME = 5000;
/** Timeout for a reply that the client does not read, in milliseconds. */
const STALL_TIME = 30_000;
/** How long an idle connection stays open, in milliseconds. */
const KEEP_ALIVE_TIME = 65_000;
/** Limits how many bodies are ignored at once, because one read of tiny chunks blocks the main thread for 6 ms. */
const ignoring = createFairQueue({ total: 16, perAccount: 4 });

/** Length in characters above which a text counts as long. */
const LONG_TEXT = 10_000;
const MAX_LONG_TEXTS = 20;
const longTexts = new Map<string, Buffer>();

const STATUS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: '431 Request Header Fields Too Large',
  ERR_HTTP_REQUEST_TIMEOUT: '408 Request Timeout',
};
const NOT_ENCODED =
  '[ERROR] Characters outside of ASCII in the URL must be percent-encoded as UTF-8. (BAD_PARAMETER)';

/** Returns the HTTP server for one machine, which serves conversions, results and text pages. */
export function createHttpServer(dependencies: Dependencies): { server: Server; connections: Connections } {
  const options = {
    maxHeaderSize: HEADER_BYTES,
    headersTimeout: HEADERS_TIME,
    requestTimeout: 0,
    connectionsCheckingInterval: 1000,
    keepAliveTimeout: KEEP_ALIVE_TIME,
  };
  const server = createServer(options);
  server.maxHeadersCount = HEADERS;
  const connections = boundConnections(server, dependencies.connections);
  /** The last request of each connection. */
  const last = new WeakMap<Duplex, Exchange>();
  server.on('clientError', (error, socket) => refuseInTurn(error, socket, last.get(socket)));
  // By default, Node responds with 417 and discards the body without any limit.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    // Its connection is already closed.
    if (request.socket.destroyed) return;
    last.set(request.socket, { request, response, previous: last.get(request.socket)?.response });
    // Prevents Node from discarding the rest of the body without any limit.
    request.read(0);
    const isLast = !response.shouldKeepAlive;
    // Node would close the connection before the client has read the reply. The headers now say that it stays open.
    if (hasBody(request)) response.shouldKeepAlive = true;
    response.once('finish', () => ignoreRest(request, isLast));
    answer(request, response, dependencies, connections).catch((thrown: unknown) => {
      dependencies.log('response failed', { cause: describe(thrown) }, 'error');
      response.destroy();
    });
  });
  return { server, connections };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { publicUrl, route, storage, texts, site, proxies, callerOf = (_, ip) => networkCaller(ip) }: Dependencies,
  connections: Connections,
): Promise<void> {
  // Many connections of one caller may become readable at once.
  await takeTurn(callerOf(request, callerIp(request, proxies)));
  if (response.destroyed) return;
  const origin = publicUrl ?? requestOrigin(request);
  const url = URL.parse(request.url ?? '/', origin) ?? new URL(origin);
  const reads = request.method === 'GET' || request.method === 'HEAD';
  const refused = refusalOf(request);
  if (refused) return sendReply(refused);
  if (reads && url.pathname.startsWith(FILES_PATH)) return sendFile(url);

  const httpRequest = readHttpRequest(request, url, proxies);
  const text = reads ? texts.get(url.pathname) : undefined;
  const pageReply = text === undefined ? await site?.respond(httpRequest, origin) : textReply(text);
  const isRouted = pageReply !== undefined && 'routed' in pageReply;
  const reply =
    pageReply && !isRouted ? pageReply : await converted(isRouted ? pageReply.routed : httpRequest);
  if (!(reply.body instanceof URL)) return sendReply(reply);
  for (const [name, value] of Object.entries(reply.headers)) response.setHeader(name, value);
  return sendFile(reply.body);

  function sendFile(file: URL): Promise<void> {
    startReply();
    return serveFile(request, response, { url: file, storage });
  }

  function sendReply({ status, headers, body }: HttpReply): void {
    startReply();
    const bytes = Buffer.isBuffer(body) ? body : bytesOf(String(body));
    response.writeHead(status, { ...headers, 'Content-Length': bytes.length });
    response.end(request.method === 'HEAD' ? undefined : bytes);
  }

  /** Lets the server close the connection if the client does not read, or if others need it more. */
  function startReply(): void {
    connections.markReply(request);
    response.setTimeout(STALL_TIME, () => response.destroy());
  }

  async function converted(asked: HttpRequest): Promise<HttpReply> {
    const gone = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) gone.abort();
    });
    return route(asked, origin, gone.signal);
  }
}

function readHttpRequest(request: IncomingMessage, url: URL, proxies?: BlockList): HttpRequest {
  const { headers } = request;
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: decodeQuery(url.search.slice(1)),
    rawQuery: (request.url ?? '').replace(/^[^?]*\??/, ''),
    header: (name) => [headers[name]].flat().join(',') || undefined,
    ...(takesBody(request.method) && hasBody(request) && { body: request }),
    ip: callerIp(request, proxies),
  };
}

/** Returns the reply to a request whose headers are too long or ambiguous. */
function refusalOf({ rawHeaders }: IncomingMessage): HttpReply | undefined {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const [name, value] = [rawHeaders[index]!, rawHeaders[index + 1]!];
    if (value.length > HEADER_LENGTH) {
      const message = `A header must not be longer than ${HEADER_LENGTH} characters. (BAD_PARAMETER)`;
      return textReply(`[ERROR] ${message}`, 431);
    }
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1;
  }
  if (hosts > 1) return textReply('[ERROR] A request must have only one Host header. (BAD_PARAMETER)', 400);
  return undefined;
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The response to the request before it on the same connection. */
  readonly previous: ServerResponse | undefined;
}

/** Rejects an invalid request after the replies to earlier requests of its connection have been sent. */
function refuseInTurn(error: NodeJS.ErrnoException, socket: Duplex, last?: Exchange): void {
  const inProgress = last?.response.writableFinished ? undefined : last;
  // The client would take a rejection now for the reply to an earlier request.
  const earlier = inProgress?.request.complete
    ? inProgress.response
    : inProgress?.response.socket === null && inProgress.previous;
  if (earlier) earlier.once('close', () => refuse(error, socket));
  // The reply has already started, so an error can no longer be sent.
  else if (inProgress?.response.headersSent) socket.destroy();
  else refuse(error, socket);
}

/** Rejects an invalid request as Node does. Explains the error if its URL is not percent-encoded. */
function refuse({ code = '' }: NodeJS.ErrnoException, socket: Duplex): void {
  const isUrl = code === 'HPE_INVALID_URL';
  const body = isUrl ? NOT_ENCODED : '';
  const headers = [
    `HTTP/1.1 ${STATUS[code] ?? '400 Bad Request'}`,
    'Connection: close',
    `Content-Length: ${body.length}`,
    ...(isUrl ? ['Content-Type: text/plain; charset=utf-8', 'X-Error-Code: BAD_PARAMETER'] : []),
  ];
  if (socket.writable) socket.end(`${headers.join('\r\n')}\r\n\r\n${body}`, () => socket.destroy());
  else socket.destroy();
}

/** Returns the origin that the caller used. The header is untrusted, so only a plain host and port is accepted. */
function requestOrigin({ headers, socket }: IncomingMessage): string {
  const host = headers.host ?? '';
  const plain = /^([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(:\d{1,5})?$/i.test(host);
  const origin = `http://${host}`;
  return plain && URL.canParse(origin) ? origin : `http://localhost:${socket.localPort}`;
}

/**
 * Returns the IP address of the caller. A reverse proxy on this machine, or one of `proxies`, adds it as the last entry of
 * `X-Forwarded-For`.
 */
function callerIp({ headers, socket }: IncomingMessage, proxies?: BlockList): string | undefined {
  const peer = socket.remoteAddress?.replace(/^::ffff:(?=[\d.]+$)/, '');
  if (peer === undefined) return undefined;
  const isProxy = /^(127\.|::1$)/.test(peer) || proxies?.check(peer, isIP(peer) === 6 ? 'ipv6' : 'ipv4');
  if (!isProxy) return socket.remoteAddress;
  const forwarded = [headers['x-forwarded-for']].flat().join(',');
  const lastIp = forwarded.slice(forwarded.lastIndexOf(',') + 1).trim();
  return isIP(lastIp) !== 0 ? lastIp : socket.remoteAddress;
}

/**
 * Returns a body as UTF-8. Long texts are cached, because encoding the API reference takes longer than the rest of
 * its reply.
 */
function bytesOf(text: string): Buffer {
  if (text.length < LONG_TEXT) return Buffer.from(text);
  const kept = longTexts.get(text) ?? Buffer.from(text);
  // Moves the text to the end, as the most recently used one.
  longTexts.delete(text);
  longTexts.set(text, kept);
  if (longTexts.size > MAX_LONG_TEXTS) longTexts.delete(longTexts.keys().next().value!);
  return kept;
}

function textReply(body: string, status = 200): HttpReply {
  return { status, headers: { 'Content-Type': 'text/plain; charset=utf-8' }, body };
}

/**
 * Ignores the rest of a body, and then closes the connection if this was its last request. Closing it with unread
 * bytes would make the kernel discard the reply.
 */
function ignoreRest(request: IncomingMessage, isLast: boolean): void {
  const { socket } = request;
  const next = () => {
    if (isLast) socket.end();
  };
  if (request.complete || socket.destroyed) {
    // Reading may have been paused.
    request.resume();
    next();
    return;
  }
  // Frees the URL, which is no longer needed and may be long.
  request.url = '';
  const over = new AbortController();
  const timer = setTimeout(() => socket.destroy(), IGNORE_TIME);
  const end = () => {
    clearTimeout(timer);
    socket.off('close', end);
    over.abort();
  };
  request.once('end', end).once('end', next);
  // After the reply, Node does not tell the request that its connection was closed.
  socket.once('close', end);
  ignoring.run(callerIp(request) ?? '', () => discard(request, over.signal), over.signal).catch(() => {});
}

/** Reads and discards a body until `over` is aborted. */
async function discard(request: IncomingMessage, over: AbortSignal): Promise<void> {
  let [chunks, bytes] = [0, 0];
  request.on('data', (chunk: Buffer) => {
    chunks += 1;
    bytes += chunk.length;
    if (areTinyChunks(chunks, bytes)) request.socket.destroy();
  });
  // The code that read the first bytes has paused it.
  request.resume();
  if (!over.aborted) await once(over, 'abort');
}

/** Whether a request has a body, even an empty one. According to RFC 9112 (6), its headers say so. */
function hasBody({ headers }: IncomingMessage): boolean {
  return headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
}
