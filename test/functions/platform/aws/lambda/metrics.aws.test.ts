import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { logEngineAge, watchErrors } from '../../../../../functions/platform/aws/lambda/metrics.ts';
import { createDynamoTable } from '../../../../../functions/platform/aws/table.ts';
import { createKeys } from '../../../../../functions/platform/key-store.ts';
import { createApiKey } from '../../../../../functions/platform/keys.ts';
import { ConversionError } from '../../../../../functions/shared/errors.ts';
import { startDynalite } from '../../../../aws-servers/dynalite.ts';

interface Lookup {
  readonly endpoint: string;
  readonly table?: string;
  readonly requestTimeout?: number;
}

/** Looks up a key in a watched table. Returns the error and the events that were logged. */
async function failing({ endpoint, table = 'keys', requestTimeout = 60_000 }: Lookup) {
  const client = new DynamoDBClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 2,
    requestHandler: { requestTimeout, throwOnRequestTimeout: true },
  });
  const logged: string[] = [];
  const keys = watchErrors(
    createKeys(createDynamoTable({ client, table })),
    (event) => logged.push(event),
    'docmill',
  );
  const error = await keys.find(createApiKey()).catch((thrown: unknown) => thrown);
  client.destroy();
  return { error, logged };
}

/** Starts a server in place of DynamoDB. */
async function endpointOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Refuses like DynamoDB. */
function refusing(status: number, name: string): RequestListener {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' });
    response.end(JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: 'Refused.' }));
  };
}

describe('a key table', () => {
  it.each<[string, RequestListener, number?]>([
    ['does not answer', () => {}, 100],
    ['closes the connection', (request) => request.socket.destroy()],
    ['is throttled', refusing(400, 'ProvisionedThroughputExceededException')],
    ['has an internal error', refusing(500, 'InternalServerError')],
  ])('that %s makes the service overloaded', async (_fault, listener, requestTimeout = 60_000) => {
    const { error, logged } = await failing({ endpoint: await endpointOf(listener), requestTimeout });

    expect(error).toMatchObject({ code: 'OVERLOADED', retryAfter: 5, cause: expect.any(Error) });
    expect(logged).toEqual(['key table failed']);
  });

  it('that cannot be reached makes the service overloaded', async () => {
    const { endpoint, close } = await startDynalite('keys');
    await close();

    expect((await failing({ endpoint })).error).toMatchObject({ code: 'OVERLOADED' });
  });

  it('that does not exist, or is forbidden, is a fault of the deployment', async () => {
    const { endpoint, close } = await startDynalite('keys');
    onTestFinished(close);
    const forbidden = await endpointOf(refusing(400, 'AccessDeniedException'));

    expect((await failing({ endpoint, table: 'missing' })).error).toMatchObject({
      name: 'ResourceNotFoundException',
    });
    expect(await failing({ endpoint: forbidden })).toMatchObject({
      error: { name: 'AccessDeniedException' },
      logged: ['key table failed'],
    });
  });
});

it.each([
  ['2026-10-20', [{ EngineAge: 40 }]],
  ['2026-11-29', [{ EngineAge: 0 }]],
  ['unknown', []],
])('reports the age of engines that were built on %s', (built, expected) => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 29, 12), toFake: ['Date'] });
  const logged: unknown[] = [];
  logEngineAge((_event, facts) => logged.push(facts), 'docmill', built);
  vi.useRealTimers();

  expect(logged).toMatchObject(expected);
});

it('counts no failure of the key table when a store refuses a request', async () => {
  const logged: unknown[] = [];
  const refusal = new ConversionError('REQUEST_IN_PROGRESS');
  const store = watchErrors(
    { begin: () => Promise.reject(refusal) },
    (event) => logged.push(event),
    'docmill',
  );

  await expect(store.begin()).rejects.toBe(refusal);
  expect(logged).toEqual([]);
});
