import { createServer } from 'node:http';
import { Agent } from 'node:https';
import { type AddressInfo, Socket } from 'node:net';
import { LambdaClient, type LambdaClientConfig } from '@aws-sdk/client-lambda';
import { afterEach, expect, it, vi } from 'vitest';
import { createLambdaInvoke } from '../../../../functions/platform/aws/invoke.ts';
import {
  type Ending,
  Refusal,
  type RunFunction,
  startLambdaEndpoint,
} from '../../../aws-servers/lambda-endpoint.ts';
import { describeInvoke, type InvokeUnderTest, sampleInvocation } from '../invoke.contract.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Stops the clock that tells for how long to retry. */
const stopClock = () => vi.useFakeTimers({ toFake: ['Date'] });

describeInvoke('Lambda', (handle) => open(async (_, event) => ({ payload: await handle(event as never) })));

it('runs the function of the tool once', async () => {
  const names: string[] = [];

  await run(async (name) => {
    names.push(name);
    return { payload: { ok: true, objectKeys: [] } };
  });

  expect(names).toEqual(['docmill-pdftools']);
});

it.each<[string, Ending, string]>([
  ['its time limit', ended('Sandbox.Timedout'), 'TIMED_OUT'],
  ['its memory limit', ended('Runtime.OutOfMemory'), 'CONVERSION_FAILED'],
  ['a crash', ended('Runtime.ExitError'), 'INTERNAL'],
  ['an error of its own', ended('TypeError'), 'INTERNAL'],
])('gives a function that ended by %s the right code', async (_, ending, code) => {
  const error = await run(async () => ending).catch((thrown) => thrown);

  expect(error.code).toBe(code);
  expect(error.message).not.toContain('secret');
});

it.each<[number, string]>([
  [502, 'EC2ThrottledException'],
  [500, 'ServiceException'],
])('reports status %i %s of the service as OVERLOADED without a retry', async (status, type) => {
  let calls = 0;

  const error = await run(async () => {
    calls++;
    throw new Refusal(status, type);
  }).catch((thrown) => thrown);

  expect(error).toMatchObject({ code: 'OVERLOADED', retryAfter: 5 });
  expect(calls).toBe(1);
});

it('retries a throttled invocation until it is accepted', async () => {
  stopClock();
  let calls = 0;

  const result = await run(async () => {
    calls++;
    if (calls < 4) throw new Refusal(429, 'TooManyRequestsException');
    return { payload: { ok: true, objectKeys: ['a'] } };
  });

  expect(result).toEqual({ ok: true, objectKeys: ['a'] });
  expect(calls).toBe(4);
});

it('reports an invocation that stays throttled as OVERLOADED within 3 seconds', async () => {
  let calls = 0;
  stopClock();

  const error = await run(async () => {
    calls++;
    vi.setSystemTime(Date.now() + 500);
    throw new Refusal(429, 'TooManyRequestsException');
  }).catch((thrown) => thrown);

  expect(error).toMatchObject({ code: 'OVERLOADED', retryAfter: 5 });
  expect(calls).toBeGreaterThan(3);
  expect(calls).toBeLessThan(7);
});

it('repeats an invocation for which Lambda had closed the kept connection', async () => {
  stopClock();
  const used = new Set<Socket>();
  let closed = 0;
  const server = createServer((request, response) => {
    if (used.has(request.socket)) {
      closed++;
      return request.socket.destroy();
    }
    used.add(request.socket);
    response.end(JSON.stringify({ ok: true, objectKeys: [`${used.size}`] }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const invoke = createLambdaInvoke({ client, functionName: (tool) => tool, isolated: false });
  const { signal } = new AbortController();

  const results = [await invoke(sampleInvocation(), signal), await invoke(sampleInvocation(), signal)];

  client.destroy();
  server.close();
  expect(closed).toBe(1);
  expect(results).toMatchObject([{ objectKeys: ['1'] }, { objectKeys: ['2'] }]);
});

it('reports a connection that ends during a conversion without a retry', async () => {
  let calls = 0;
  const server = createServer((request) => {
    calls++;
    setTimeout(() => request.socket.destroy(), 1200);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const client = clientOf(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const invoke = createLambdaInvoke({ client, functionName: (tool) => tool, isolated: false });

  const error = await invoke(sampleInvocation(), new AbortController().signal).catch((thrown) => thrown);

  client.destroy();
  server.close();
  expect(calls).toBe(1);
  expect(error).toBeInstanceOf(Error);
  expect(error.code).not.toBe('OVERLOADED');
});

it.each([
  ['is refused', { endpoint: 'http://127.0.0.1:1' }],
  ['is not opened in time', { endpoint: 'https://127.0.0.1:1', requestHandler: silentConnection() }],
])('reports OVERLOADED when the connection to Lambda %s', async (_, { endpoint, ...rest }) => {
  const client = clientOf(endpoint, rest);
  const invoke = createLambdaInvoke({ client, functionName: (tool) => tool, isolated: false });

  const error = await invoke(sampleInvocation(), new AbortController().signal).catch((thrown) => thrown);

  client.destroy();
  expect(error).toMatchObject({ code: 'OVERLOADED', retryAfter: 5 });
});

it('stops retrying when the caller has disconnected', async () => {
  stopClock();
  const { invoke, close } = await open(async () => {
    throw new Refusal(429, 'TooManyRequestsException');
  });

  const error = await invoke(sampleInvocation(), AbortSignal.timeout(300)).catch((thrown) => thrown);

  await close();
  expect(error.code).toBe('TIMED_OUT');
});

it.each([
  ['owner-1', 'owner-1'],
  ['a b:c/d=e+f@g.h_i', 'a b:c/d=e+f@g.h_i'],
  ['demo-0123456789abcdef', 'demo'],
  ['demo-user', 'demo-user'],
  ['größe', expect.stringMatching(/^[0-9a-f]{64}$/)],
  ['x'.repeat(257), expect.stringMatching(/^[0-9a-f]{64}$/)],
])('passes the account %s as the account ID', async (account, expected) => {
  const accounts: unknown[] = [];
  const run: RunFunction = async (_name, _event, given) => {
    accounts.push(given);
    return { payload: { ok: true, objectKeys: [] } };
  };
  const { invoke, close } = await open(run, { isolated: true });

  await invoke({ ...sampleInvocation(), account }, new AbortController().signal);

  await close();
  expect(accounts).toEqual([expected]);
});

it('passes no tenant ID without tenant isolation', async () => {
  const accounts: unknown[] = [];

  await run(async (_name, _event, account) => {
    accounts.push(account);
    return { payload: { ok: true, objectKeys: [] } };
  });

  expect(accounts).toEqual([undefined]);
});

it('does not report a denied permission as an error of the caller', async () => {
  const refused = run(async () => {
    throw new Refusal(403, 'AccessDeniedException');
  });

  await expect(refused).rejects.toMatchObject({ name: 'AccessDeniedException' });
});

it('reports a silent function as TIMED_OUT after the socket timeout', async () => {
  const error = await run(() => new Promise(() => {}), { socketTimeout: 300 }).catch((thrown) => thrown);

  expect(error.code).toBe('TIMED_OUT');
});

it.each([
  ['nothing', undefined],
  ['a text', 'ok'],
  ['a list of things that are no keys', { ok: true, objectKeys: [1, {}] }],
  ['an error without a code', { ok: false, error: { message: 'x' } }],
  ['an unheard-of code', { ok: false, error: { code: 'HACKED', message: '<script>secret</script>' } }],
])('reports INTERNAL when the response is %s', async (_, payload) => {
  const outcome = await run(async () => ({ payload })).catch((thrown) => ({ error: thrown.toReport() }));

  expect(outcome).toMatchObject({ error: { code: 'INTERNAL' } });
  expect(JSON.stringify(outcome)).not.toContain('secret');
});

function ended(errorType: string): Ending {
  return {
    functionError: 'Unhandled',
    payload: { errorType, errorMessage: 'secret detail', trace: ['secret'] },
  };
}

interface OpenOptions {
  readonly socketTimeout?: number;
  readonly isolated?: boolean;
}

async function open(
  handle: RunFunction,
  { socketTimeout = 60_000, isolated = false }: OpenOptions = {},
): Promise<InvokeUnderTest> {
  const endpoint = await startLambdaEndpoint(handle);
  const client = clientOf(endpoint.endpoint, { requestHandler: { socketTimeout } });
  return {
    invoke: createLambdaInvoke({ client, functionName: (tool) => `docmill-${tool}`, isolated }),
    close: async () => {
      client.destroy();
      await endpoint.close();
    },
  };
}

function clientOf(endpoint: string, configuration: LambdaClientConfig = {}): LambdaClient {
  return new LambdaClient({
    endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
    ...configuration,
  });
}

/** A request handler whose connections never open. */
function silentConnection(): NonNullable<LambdaClientConfig['requestHandler']> {
  const httpsAgent = new Agent();
  httpsAgent.createConnection = () => Object.assign(new Socket(), { connecting: true }) as never;
  return { connectionTimeout: 200, httpsAgent };
}

async function run(handle: RunFunction, options?: OpenOptions) {
  const { invoke, close } = await open(handle, options);
  try {
    return await invoke(sampleInvocation(), new AbortController().signal);
  } finally {
    await close();
  }
}
