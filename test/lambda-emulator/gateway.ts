import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Refusal } from '../aws-servers/lambda-endpoint.ts';
import { randomNumbers } from '../helpers/random.ts';
import type { Report } from './account.ts';
import type { GatewaySettings, Route, Throttle } from './deployment.ts';
import type { FunctionPool } from './function-pool.ts';
import type { FunctionResponse } from './runtime.ts';
import { Ended } from './sandbox.ts';

/** Separates status and headers of a streamed response from its body. */
const ZEROS = Buffer.alloc(8);

/** Maximum bytes of request line and headers together that API Gateway accepts. */
const MAX_REQUEST = 10_240;
/** Maximum bytes of a body that API Gateway accepts, and of an event that Lambda accepts. */
const MAX_BODY = 10_485_760;
const MAX_EVENT = 6_291_456;

/** Status codes of the gateway's own responses unless the stack modifies them. A failed router is a 502. */
const UNMODIFIED: Readonly<Record<string, number>> = {
  MISSING_AUTHENTICATION_TOKEN: 403,
  REQUEST_TOO_LARGE: 413,
  THROTTLED: 429,
  INTEGRATION_FAILURE: 504,
  INTEGRATION_TIMEOUT: 504,
  DEFAULT_5XX: 502,
};

/** Emulates the gateway: turns requests into proxy events for the router, and its streamed responses into HTTP. */
export async function startFront(
  serving: (path: string) => FunctionPool,
  gateway: GatewaySettings,
  report: Report,
) {
  const buckets = new Map(gateway.routes.map((route) => [route, tokenBucket(route.throttle)]));
  const server = createServer({ maxHeaderSize: 64 * 1024 }, async (request, response) => {
    const count = (status: number) => report('AWS/ApiGateway', gateway.dimensions, errorMetrics(status));
    try {
      count(await serve(request, response, serving, gateway, buckets));
    } catch (error) {
      process.stderr.write(`front: ${error}\n`);
      count(refuse(response, gateway, 'DEFAULT_5XX'));
    }
  });
  server.requestTimeout = 0;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function errorMetrics(status: number) {
  const family = Math.floor(status / 100);
  return { Count: 1, '4XXError': Number(family === 4), '5XXError': Number(family === 5) };
}

/** Responds to a request. Returns the status that the gateway's metrics count. */
async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  serving: (path: string) => FunctionPool,
  gateway: GatewaySettings,
  buckets: ReadonlyMap<Route, () => boolean>,
): Promise<number> {
  const url = new URL(request.url ?? '/', 'http://front');
  const route = routeOf(url.pathname, request.method ?? '', gateway.routes);
  if (!route) return refuse(response, gateway, 'MISSING_AUTHENTICATION_TOKEN');
  if (requestBytes(request) > MAX_REQUEST) return refuse(response, gateway, 'REQUEST_TOO_LARGE');
  if (!buckets.get(route)!()) return refuse(response, gateway, 'THROTTLED');
  const body = await buffer(request);
  if (body.length > MAX_BODY) return refuse(response, gateway, 'REQUEST_TOO_LARGE');
  const event = { ...proxyEvent(request, url), ...bodyOf(body, gateway) };
  if (Buffer.byteLength(JSON.stringify(event)) > MAX_EVENT)
    return refuse(response, gateway, 'REQUEST_TOO_LARGE');
  try {
    return respond(response, gateway, await serving(url.pathname).invoke(event));
  } catch (error) {
    // If Lambda refuses to start the router, that is a failed integration for the gateway.
    if (error instanceof Refusal) return refuse(response, gateway, 'INTEGRATION_FAILURE');
    if (error instanceof Ended && error.errorType === 'Sandbox.Timedout') {
      return refuse(response, gateway, 'INTEGRATION_TIMEOUT');
    }
    throw error;
  }
}

/** Finds the method of the resource with a path: one of its own before `ANY`, and a fixed path before `{name}` and `{proxy+}`. */
export function routeOf(path: string, method: string, routes: readonly Route[]): Route | undefined {
  const [whole, below = ''] = /^\/api(?:\/(.*))?$/.exec(path) ?? [];
  if (whole === undefined) return undefined;
  const rank = ({ part }: Route) => (part.endsWith('{proxy+}') ? 2 : Number(part.includes('{')));
  const found = routes.filter((route) => matches(route, below)).sort((a, b) => rank(a) - rank(b));
  const resource = found.filter(({ part }) => part === found[0]!.part);
  return (
    resource.find((route) => route.method === method) ?? resource.find((route) => route.method === 'ANY')
  );
}

function matches({ part }: Route, path: string): boolean {
  const pattern = part.replace(/\{\w+(\+?)\}/g, (_, more) => (more ? '.+' : '[^/]+'));
  return new RegExp(`^${pattern}$`).test(path);
}

function bodyOf(body: Buffer, { isBinary }: GatewaySettings) {
  if (body.length === 0) return {};
  return { body: body.toString(isBinary ? 'base64' : 'utf8'), isBase64Encoded: isBinary };
}

/** Bytes of the request line and of all headers. */
function requestBytes({ method = '', url = '', rawHeaders }: IncomingMessage): number {
  return Buffer.byteLength([method, url, ...rawHeaders].join('  '));
}

/** Allows `rate` requests per second, with bursts of `burst`. */
export function tokenBucket(
  { rate, burst }: Throttle,
  clock: () => number = () => performance.now(),
): () => boolean {
  let [tokens, filled] = [burst, clock()];
  return () => {
    if (burst === Number.POSITIVE_INFINITY) return true;
    const now = clock();
    tokens = Math.min(burst, tokens + ((now - filled) * rate) / 1000);
    filled = now;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/** Writes the event as the gateway does: the query decoded, once with the last value of each name and once with all. */
function proxyEvent({ method, headers, rawHeaders, socket }: IncomingMessage, url: URL) {
  // A semicolon separates parameters, too.
  const values = grouped([...new URLSearchParams(url.search.replaceAll(';', '&'))]);
  // The gateway passes a header's name as it was written, and repeated ones as an array.
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  const received = grouped(names.map((name, index) => [name, rawHeaders[2 * index + 1]!]));
  return {
    resource: '/',
    path: '/',
    httpMethod: method,
    headers: lastOf(received),
    multiValueHeaders: received,
    queryStringParameters: url.search === '' ? null : lastOf(values),
    multiValueQueryStringParameters: url.search === '' ? null : values,
    pathParameters: null,
    stageVariables: null,
    requestContext: {
      requestId: randomUUID(),
      path: url.pathname,
      stage: 'api',
      httpMethod: method,
      resourcePath: '/',
      identity: { sourceIp: socket.remoteAddress, userAgent: headers['user-agent'] ?? null },
    },
    body: null,
    isBase64Encoded: false,
  };
}

/** Groups values by name, in another order than they came in: the gateway's maps have none that a function may rely on. */
function grouped(pairs: ReadonlyArray<readonly [string, string]>): Record<string, string[]> {
  const groups = [...Map.groupBy(pairs, ([name]) => name)];
  return Object.fromEntries(shuffled(groups).map(([name, all]) => [name, all.map(([, value]) => value)]));
}

const random = randomNumbers(30);

/** Returns the items in any order but their own. */
function shuffled<Item>(items: readonly Item[]): Item[] {
  const order = items.map((item) => ({ item, place: random() })).sort((a, b) => a.place - b.place);
  const others = order.map(({ item }) => item);
  return others.every((item, at) => item === items[at]) ? others.reverse() : others;
}

function lastOf(values: Readonly<Record<string, readonly string[]>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(values).map(([name, all]) => [name, all.at(-1)]));
}

function respond(
  response: ServerResponse,
  gateway: GatewaySettings,
  { body, kind, contentType }: FunctionResponse,
): number {
  const end = body.indexOf(ZEROS);
  const streamed = kind === 'stream' && contentType === 'application/vnd.awslambda.http-integration-response';
  if (!streamed || end < 0) return refuse(response, gateway, 'DEFAULT_5XX');
  const { statusCode, headers } = JSON.parse(body.subarray(0, end).toString()) as {
    statusCode: number;
    headers: Record<string, string>;
  };
  const content = body.subarray(end + ZEROS.length);
  response.writeHead(statusCode, { ...remapped(headers), 'Content-Length': content.length }).end(content);
  return statusCode;
}

/** Returns headers under the names that the gateway gives them. */
function remapped(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      /^www-authenticate$/i.test(name) ? `x-amzn-Remapped-${name}` : name,
      value,
    ]),
  );
}

/** Sends the gateway's own response of a type, as the stack defines it. Returns the status that its metrics count. */
function refuse(response: ServerResponse, { responses }: GatewaySettings, type: string): number {
  const { status, headers, body } = responses.get(type) ?? responses.get('DEFAULT_5XX')!;
  const resolved = Object.entries(headers).map(([name, value]) => [
    name,
    value === 'context.requestId' ? randomUUID() : value,
  ]);
  response
    .writeHead(status, { ...Object.fromEntries(resolved), 'Content-Length': Buffer.byteLength(body) })
    .end(body);
  // A modified status code counts as an error of the client.
  return status === UNMODIFIED[type] ? status : 400;
}
