import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { createLambdaHealth } from '../../../../functions/platform/aws/invoke.ts';
import { createDynamoTable } from '../../../../functions/platform/aws/table.ts';
import { startDynalite } from '../../../aws-servers/dynalite.ts';
import { Refusal, startLambdaEndpoint } from '../../../aws-servers/lambda-endpoint.ts';

const FUNCTIONS = { pdftools: 'one', html2pdf: 'two', html2image: 'three', imageproc: 'four' };

afterEach(() => vi.useRealTimers());

it('asks one function after the other, once a minute for all routers, and tells a busy one from a broken one', async () => {
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
  const dynalite = await startDynalite('keys');
  onTestFinished(async () => {
    client.destroy();
    await endpoint.close();
    await dynalite.close();
  });
  const table = createDynamoTable({ client: dynalite.client, table: 'keys' });
  const router = () => createLambdaHealth({ client, functions: FUNCTIONS, isolated: true, table });
  const [first, second] = [router(), router()];

  const [state, same, meanwhile] = await Promise.all([first(), first(), second()]);
  const later = await router()();
  const before = asked;
  vi.useFakeTimers({ now: Date.now() + 61_000, toFake: ['Date'] });
  await Promise.all([router()(), router()(), router()()]);

  const asKnown = { pdftools: 'up', html2pdf: 'busy', html2image: 'down', imageproc: 'starting' };
  const unknown = Object.fromEntries(Object.keys(FUNCTIONS).map((tool) => [tool, 'starting']));
  expect(same).toBe(state);
  // Either router may ask. Meanwhile, there is no earlier state for the other one.
  expect([state, meanwhile]).toContainEqual(asKnown);
  for (const each of [state, meanwhile]) expect([asKnown, unknown]).toContainEqual(each);
  expect(later).toEqual(asKnown);
  expect({ before, asked, peak }).toEqual({ before: 4, asked: 8, peak: 1 });
});
