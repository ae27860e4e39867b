import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, it, onTestFinished } from 'vitest';
import { ENVIRONMENT_VARIABLE, type RouterEnvironment } from '../../../functions/platform/aws/environment.ts';
import { findFunction } from '../../../infra/aws/deployed.ts';

/** The functions of an account: name and environment. */
const FUNCTIONS = [
  ['someone-elses', undefined],
  ['with-a-variable-of-the-same-name', 'production'],
  ['docmill-dev-router1-x', { toolFunctions: {}, keyTable: 'dev', metricsNamespace: 'docmill-dev' }],
  ['docmill-pdftools1-x', { resultsUrl: 'u', metricsNamespace: 'docmill' }],
  ['docmill-site1-x', { router: 'r', keyTable: 'main', metricsNamespace: 'docmill' }],
  ['docmill-router1-x', { toolFunctions: {}, keyTable: 'main', metricsNamespace: 'docmill' }],
] as const;

async function startLambda() {
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://lambda');
    const reply = (body: object) =>
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    const marker = Number(url.searchParams.get('Marker') ?? 0);
    const [FunctionName, environment] = FUNCTIONS[marker]!;
    const Variables = environment && { [ENVIRONMENT_VARIABLE]: JSON.stringify(environment) };
    const Functions = [{ FunctionName, ...(Variables && { Environment: { Variables } }) }];
    return reply({ Functions, ...(marker + 1 < FUNCTIONS.length && { NextMarker: String(marker + 1) }) });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const client = new LambdaClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
  });
  onTestFinished(() => {
    client.destroy();
    server.close();
  });
  return client;
}

const find = async (isWanted: (environment: RouterEnvironment) => boolean) =>
  findFunction<RouterEnvironment>(await startLambda(), 'toolFunctions', isWanted);

it.each([
  ['docmill', 'docmill-router1-x'],
  ['docmill-dev', 'docmill-dev-router1-x'],
  ['docmill-prod', undefined],
])('finds the router of the stack %s without any file', async (stack, name) => {
  const found = await find(({ metricsNamespace }) => metricsNamespace === stack);

  expect(found?.name).toBe(name);
});

it('finds the router that uses a table', async () => {
  expect(await find(({ keyTable }) => keyTable === 'main')).toMatchObject({ name: 'docmill-router1-x' });
});
