import { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, it } from 'vitest';
import { createLambdaInvoke } from '../../../../functions/shared/invoke/lambda.ts';
import {
  type Ending,
  Refusal,
  type RunFunction,
  startLambdaEndpoint,
} from '../../../infra/aws/lambda-endpoint.ts';
import { describeInvoke, type InvokeUnderTest, sampleInvocation } from './contract.ts';

describeInvoke('Lambda', (handle) => open(async (_, event) => ({ payload: await handle(event as never) })));

it('runs the function that bears the name of the tool, once', async () => {
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
  ['a crash', ended('Runtime.ExitError'), 'CONVERSION_FAILED'],
  ['an error of its own', ended('TypeError'), 'INTERNAL'],
])('names what a function met that ended by %s', async (_, ending, code) => {
  const error = await run(async () => ending).catch((thrown) => thrown);

  expect(error.code).toBe(code);
  expect(error.message).not.toContain('secret');
});

it.each<[number, string, string]>([
  [429, 'TooManyRequestsException', 'OVERLOADED'],
  [502, 'EC2ThrottledException', 'OVERLOADED'],
  [500, 'ServiceException', 'OVERLOADED'],
])('takes status %i %s of the service for being busy, and asks once', async (status, type, code) => {
  let calls = 0;

  const error = await run(async () => {
    calls++;
    throw new Refusal(status, type);
  }).catch((thrown) => thrown);

  expect(error.code).toBe(code);
  expect(error.retryAfter).toBeGreaterThan(0);
  expect(calls).toBe(1);
});

it('keeps a refusal that is our own fault to itself', async () => {
  const refused = run(async () => {
    throw new Refusal(403, 'AccessDeniedException');
  });

  await expect(refused).rejects.toMatchObject({ name: 'AccessDeniedException' });
});

it('takes silence past the socket time-out for a time-out', async () => {
  const error = await run(() => new Promise(() => {}), 300).catch((thrown) => thrown);

  expect(error.code).toBe('TIMED_OUT');
});

it.each([
  ['nothing', undefined],
  ['a text', 'ok'],
  ['a list of things that are no keys', { ok: true, objectKeys: [1, {}] }],
  ['an error without a code', { ok: false, error: { message: 'x' } }],
  ['an unheard-of code', { ok: false, error: { code: 'HACKED', message: '<script>secret</script>' } }],
])('passes nothing on when the answer is %s', async (_, payload) => {
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

async function open(handle: RunFunction, socketTimeout = 5000): Promise<InvokeUnderTest> {
  const endpoint = await startLambdaEndpoint(handle);
  const client = new LambdaClient({
    endpoint: endpoint.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
    requestHandler: { socketTimeout },
  });
  return {
    invoke: createLambdaInvoke({ client, functionName: (tool) => `docmill-${tool}` }),
    close: async () => {
      client.destroy();
      await endpoint.close();
    },
  };
}

async function run(handle: RunFunction, socketTimeout?: number) {
  const { invoke, close } = await open(handle, socketTimeout);
  try {
    return await invoke(sampleInvocation(), new AbortController().signal);
  } finally {
    await close();
  }
}
