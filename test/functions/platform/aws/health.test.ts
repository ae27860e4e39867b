import { LambdaClient } from '@aws-sdk/client-lambda';
import { expect, it } from 'vitest';
import { createLambdaHealth } from '../../../../functions/platform/aws/health.ts';
import { Refusal, startLambdaEndpoint } from '../../../aws-servers/lambda-endpoint.ts';

const FUNCTIONS = { pdftools: 'one', html2pdf: 'two', html2image: 'three', imageproc: 'four' };

it('asks one function after the other, once a minute, and tells a busy one from a broken one', async () => {
  let [asked, running, peak] = [0, 0, 0];
  const endpoint = await startLambdaEndpoint(async (name) => {
    asked += 1;
    running += 1;
    peak = Math.max(peak, running);
    await new Promise((resolve) => setTimeout(resolve, 5));
    running -= 1;
    if (name === 'two') throw new Refusal(429, 'TooManyRequestsException');
    if (name === 'three') throw new Refusal(403, 'AccessDeniedException');
    return { payload: { status: name === 'four' ? 'starting' : 'up' } };
  });
  const client = new LambdaClient({
    endpoint: endpoint.endpoint,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
    maxAttempts: 1,
  });
  const health = createLambdaHealth({ client, functions: FUNCTIONS, isolated: true });

  const states = await Promise.all([health(), health()]);

  expect(states[0]).toEqual({ pdftools: 'up', html2pdf: 'busy', html2image: 'down', imageproc: 'starting' });
  expect(states[1]).toBe(states[0]);
  expect({ asked, peak }).toEqual({ asked: 4, peak: 1 });
  client.destroy();
  await endpoint.close();
});
