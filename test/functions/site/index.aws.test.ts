import type { ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createDynamoTable } from '../../../functions/platform/aws/table.ts';
import { createStores } from '../../../functions/platform/stores.ts';
import { Members } from '../../../functions/site/accounts/members.ts';
import { writeSite } from '../../../functions/site/build.ts';
import { bundleFunction } from '../../../infra/aws/build/bundle.ts';
import { startDynalite } from '../../aws-servers/dynalite.ts';
import { Refusal, startLambdaEndpoint } from '../../aws-servers/lambda-endpoint.ts';
import { type RuntimeApi, startRuntime } from '../../lambda-emulator/runtime.ts';

const ORIGIN = 'https://site.example';
const ROUTER = 'arn:aws:lambda:us-east-1:123456789012:function:router:7';
const folder = mkdtempSync(join(tmpdir(), 'site-function-'));

/** Events that the site has sent to the router. */
const forwarded: Array<{ name: string; event: Record<string, unknown> }> = [];
/** Returns the response of the router, or fails. */
let answer: () => unknown;
let api: RuntimeApi;
let child: ChildProcess;
let session: string;
let table: Awaited<ReturnType<typeof startDynalite>>;
let lambda: Awaited<ReturnType<typeof startLambdaEndpoint>>;

const response = (statusCode: number, body: string) =>
  Buffer.concat([
    Buffer.from(JSON.stringify({ statusCode, headers: { 'X-Test': 'router' } })),
    Buffer.alloc(8),
    Buffer.from(body),
  ]);

beforeAll(async () => {
  table = await startDynalite('keys');
  const members = new Members(createStores(createDynamoTable({ client: table.client, table: 'keys' }), []));
  session = (await members.redeem(await members.invite('alice@example.com')))!.session;
  lambda = await startLambdaEndpoint(async (name, event) => {
    forwarded.push({ name, event: event as Record<string, unknown> });
    return { payload: await answer() };
  });
  const { scripts } = await bundleFunction('site');
  for (const [name, text] of scripts) writeFileSync(join(folder, name.replace('index', 'function')), text);
  await writeSite(join(folder, 'site'));
  const environment = {
    metricsNamespace: 'test',
    conversionLimits: { sourceBytes: 1e6 },
    keyTable: 'keys',
    router: ROUTER,
    defaultLimits: {},
    version: {},
    origin: ORIGIN,
    resultsOrigin: 'https://results.example',
    resultHours: 24,
    signUp: 'invite',
  };
  const variables = {
    ENVIRONMENT: JSON.stringify(environment),
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'id',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_ENDPOINT_URL_DYNAMODB: table.endpoint,
    AWS_ENDPOINT_URL_LAMBDA: lambda.endpoint,
  };
  writeFileSync(
    join(folder, 'index.mjs'),
    `Object.assign(process.env, ${JSON.stringify(variables)});
    export const { handler } = await import('./function.mjs');`,
  );
  ({ api, child } = await startRuntime(folder));
});
afterEach(() => void forwarded.splice(0));
afterAll(async () => {
  child.kill('SIGKILL');
  api.close();
  await Promise.all([lambda.close(), table.close()]);
  rmSync(folder, { recursive: true });
});

async function send(httpMethod: string, path: string, headers: Readonly<Record<string, string>> = {}) {
  const requestContext = {
    path: `/api/site${path}`,
    requestId: 'request',
    identity: { sourceIp: '192.0.2.1' },
  };
  const event = { httpMethod, headers, requestContext, body: 'eA==', isBase64Encoded: true };
  const context = { id: 'event', deadline: Date.now() + 60_000, functionArn: 'arn:aws:lambda:test' };
  const idle = new Promise<void>((resolve) => {
    api.onIdle = resolve;
  });
  const { body } = await api.invoke(event, context);
  await idle;
  const end = body.indexOf(Buffer.alloc(8));
  const { statusCode } = JSON.parse(body.toString('utf8', 0, end)) as { statusCode: number };
  return { statusCode, text: body.toString('utf8', end + 8) };
}

const FORM = { Origin: ORIGIN, 'Sec-Fetch-Site': 'same-origin' };

it('serves a page without the router', async () => {
  const { statusCode, text } = await send('GET', '/docs/pdftools');

  expect({ statusCode, forwarded }).toEqual({ statusCode: 200, forwarded: [] });
  expect(text).toContain('<title>');
});

it('lets the router convert for the account of a session', async () => {
  answer = () => response(201, '[Output] https://results.example/a<br>');

  const sent = await send('POST', '/site/convert', { ...FORM, Cookie: `__Host-docmill=${session}` });

  expect(sent).toEqual({ statusCode: 201, text: '[Output] https://results.example/a<br>' });
  expect(forwarded).toEqual([
    {
      name: ROUTER,
      event: expect.objectContaining({
        body: 'eA==',
        requestContext: expect.objectContaining({ path: '/api/', identity: { sourceIp: '192.0.2.1' } }),
        member: expect.objectContaining({ account: expect.any(String) }),
      }),
    },
  ]);
});

it('names no account without a session', async () => {
  answer = () => response(200, '');

  await send('POST', '/site/convert/uploads', FORM);

  expect(forwarded[0]!.event).not.toHaveProperty('member');
  expect(forwarded[0]!.event).toMatchObject({ requestContext: { path: '/api/uploads' } });
});

it('passes on nothing that a page of another site sends', async () => {
  const { statusCode } = await send('POST', '/site/convert', { Origin: 'https://other.example' });

  expect({ statusCode, forwarded }).toEqual({ statusCode: 403, forwarded: [] });
});

it.each([
  ['is throttled', () => Promise.reject(new Refusal(429, 'TooManyRequestsException'))],
  ['ends without a response', () => undefined],
])('reports that the service is at capacity if the router %s', async (_, make) => {
  answer = make;

  const { statusCode, text } = await send('POST', '/site/convert', FORM);

  expect(statusCode).toBe(503);
  expect(text).toContain('OVERLOADED');
});
