import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createApiKey, type KeyRecord } from '../../../functions/platform/keys.ts';
import { createTraces } from '../../../functions/router/call.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { unlimited } from '../accounts.ts';

interface Span {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: ReadonlyArray<{ readonly key: string }>;
}

interface Received {
  readonly resourceSpans: ReadonlyArray<{
    readonly scopeSpans: ReadonlyArray<{ readonly spans: readonly Span[] }>;
  }>;
}

const KEY = createApiKey();
const record: KeyRecord = { id: 'key_abcdefghij', account: 'a', name: 'a', created: 0 } as never;
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';

/** Starts a collector that reads OTLP as JSON. */
async function startCollector() {
  const received: Span[] = [];
  const headers: (string | undefined)[] = [];
  const texts: string[] = [];
  const server = createServer(async (request, response) => {
    const body = (await json(request)) as Received;
    headers.push(request.headers.authorization);
    texts.push(JSON.stringify(body));
    received.push(...body.resourceSpans.flatMap((each) => each.scopeSpans.flatMap(({ spans }) => spans)));
    response
      .writeHead(request.url === '/v1/traces' ? 200 : 404, { 'Content-Type': 'application/json' })
      .end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received, headers, texts };
}

/** Converts with the tool's steps at given times, and returns what was logged when all traces are sent. */
async function convert(
  endpoint: string,
  {
    headers = {},
    query = {},
    demo,
  }: { headers?: Record<string, string>; query?: Record<string, string>; demo?: Dependencies['demo'] } = {},
) {
  const logged: string[] = [];
  const log: Dependencies['log'] = (event, fields) => logged.push(JSON.stringify({ event, ...fields }));
  const traces = createTraces({
    endpoint,
    timeout: 2000,
    headers: async () => 'authorization=Bearer%20t',
    log,
  });
  const now = Date.now();
  const timed = [
    { step: 'queue', at: now, milliseconds: 1 },
    { step: 'download', at: now, milliseconds: 2 },
    { step: 'convert', at: now - 1e9, milliseconds: 1e9 },
    { step: 'store', at: now, milliseconds: 1e9 },
  ];
  const dependencies: Dependencies = {
    ...unlimited,
    tools: Object.values(tools),
    keys: { find: async (key) => (key === KEY ? record : undefined), findSigner: async () => undefined },
    storage: {
      grant: async (request) => ({ ...request }),
      url: async (key) => `https://files.example/${key}`,
      exists: async () => true,
      remove: async () => {},
    },
    invoke: async ({ grant }) => ({
      ok: true,
      objectKeys: [`${grant.prefix}a.jpg`],
      measured: { sourceBytes: 1, resultBytes: 1, pages: 1, milliseconds: 4, steps: {}, timed },
    }),
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log,
    logsIp: true,
    demo,
    traces,
  };
  const all = {
    apikey: KEY,
    app: 'imageproc',
    infile: 'https://user:password@example.com/private.png?X-Amz-Signature=s3cr3t',
    outfile: 'invoice.jpg',
    ...query,
  };
  const pairs = Object.entries(all).map(([name, value]) => ({ name, value }));
  const http = {
    method: 'GET',
    path: '/api/',
    query: pairs,
    header: (name: string) => headers[name],
    ip: '203.0.113.9',
  };
  const reply = await route(http, dependencies, new AbortController().signal);
  await traces.flush();
  return { reply, logged };
}

it('sends the call and its steps as spans of the trace that the caller has begun', async () => {
  const { endpoint, received, headers } = await startCollector();

  const { logged } = await convert(endpoint, { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });

  const root = received.find(({ name }) => name === 'router')!;
  expect(root).toMatchObject({ traceId: TRACE, parentSpanId: PARENT });
  const steps = received.filter((span) => span !== root);
  expect(steps.map(({ name }) => name).sort()).toEqual(['download', 'engine', 'queue', 'store']);
  for (const { traceId, parentSpanId, startTimeUnixNano, endTimeUnixNano } of steps) {
    expect([traceId, parentSpanId]).toEqual([TRACE, root.spanId]);
    expect(BigInt(startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(root.startTimeUnixNano));
    expect(BigInt(endTimeUnixNano)).toBeLessThanOrEqual(BigInt(root.endTimeUnixNano));
  }
  expect(headers).toEqual(['Bearer t']);
  expect(logged.join()).toContain('"ip":"203.0.113.9"');
});

it('contains nothing of the URL, the options, the key or the headers of the caller', async () => {
  const { endpoint, texts, received } = await startCollector();
  const headers = {
    'x-request-id': KEY,
    traceparent: `00-${'0'.repeat(32)}-${PARENT}-01`,
    tracestate: 'vendor=s3cr3t',
    baggage: 'user=s3cr3t',
    'user-agent': 'y'.repeat(8000),
  };

  await convert(endpoint, { headers, query: { '-resize': '33x' } });

  const root = received.find(({ name }) => name === 'router')!;
  expect(root.attributes.map(({ key }) => key).sort()).toEqual([
    'docmill.code',
    'docmill.key_id',
    'docmill.request_id',
    'docmill.tool',
    'http.response.status_code',
  ]);
  expect(root.traceId).not.toMatch(/^0+$/);
  expect(texts.join()).not.toMatch(/s3cr3t|password|private|example\.com|invoice|33x|yyy/);
  expect(texts.join()).not.toContain(KEY);
  expect(texts.join().length).toBeLessThan(4000);
});

it('sends no trace of calls without a key, nor of those that the caller does not sample', async () => {
  const { endpoint, received } = await startCollector();

  await convert(endpoint, { query: { apikey: 'wrong' } });
  await convert(endpoint, { query: { apikey: 'wrong', outfile: '' }, demo: { perAddress: 5, perHour: 5 } });
  await convert(endpoint, { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });

  expect(received).toEqual([]);
});

it('converts and logs a line while the collector is not reachable', async () => {
  const { reply, logged } = await convert('http://user:password@127.0.0.1:9');

  expect(reply.status).toBe(200);
  const lines = logged.filter((line) => line.includes('traces not sent'));
  expect(lines).toHaveLength(1);
  expect(lines[0]).not.toContain('password');
});
