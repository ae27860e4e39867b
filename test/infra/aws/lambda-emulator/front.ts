import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FunctionPool } from './function-pool.ts';
import type { FunctionResponse } from './runtime-api.ts';

/** Ends the head of a streamed answer. */
const ZEROS = Buffer.alloc(8);

/** Stands in for the gateway: turns requests into proxy events for the router, and its streamed answers into replies. */
export async function startFront(router: FunctionPool) {
  const server = createServer({ maxHeaderSize: 64 * 1024 }, (request, response) => {
    serve(request, response, router).catch((error: unknown) => {
      process.stderr.write(`front: ${error}\n`);
      refuse(response, 500, 'INTERNAL');
    });
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

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  router: FunctionPool,
): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://front');
  if (url.pathname !== '/api' && url.pathname !== '/api/') return refuse(response, 404, 'NOT_FOUND');
  reply(response, await router.invoke(proxyEvent(request, url)));
}

/** As the gateway writes it: the query decoded, once by last value and once by all values. */
function proxyEvent({ method, headers }: IncomingMessage, url: URL) {
  const values: Record<string, string[]> = {};
  for (const [name, value] of url.searchParams) values[name] = [...(values[name] ?? []), value];
  return {
    resource: '/',
    path: '/',
    httpMethod: method,
    headers,
    multiValueHeaders: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, [value].flat()]),
    ),
    queryStringParameters: Object.fromEntries(
      Object.entries(values).map(([name, all]) => [name, all.at(-1)]),
    ),
    multiValueQueryStringParameters: url.search === '' ? null : values,
    pathParameters: null,
    stageVariables: null,
    requestContext: { path: url.pathname, stage: 'api', httpMethod: method, resourcePath: '/' },
    body: null,
    isBase64Encoded: false,
  };
}

function reply(response: ServerResponse, { body, kind, contentType }: FunctionResponse): void {
  const end = body.indexOf(ZEROS);
  const streamed = kind === 'stream' && contentType === 'application/vnd.awslambda.http-integration-response';
  if (!streamed || end < 0) {
    refuse(response, 502, 'INTERNAL');
    return;
  }
  const { statusCode, headers } = JSON.parse(body.subarray(0, end).toString()) as {
    statusCode: number;
    headers: Record<string, string>;
  };
  const content = body.subarray(end + ZEROS.length);
  response.writeHead(statusCode, { ...headers, 'Content-Length': content.length }).end(content);
}

function refuse(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Error-Code': code });
  response.end(`[ERROR] The gateway says so. (${code})`);
}
