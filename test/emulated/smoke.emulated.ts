import { LambdaClient } from '@aws-sdk/client-lambda';
import { PutBucketLifecycleConfigurationCommand } from '@aws-sdk/client-s3';
import { beforeAll, expect, it } from 'vitest';
import type { Check } from '../../infra/aws/smoke/check.ts';
import { checkClaims } from '../../infra/aws/smoke/claims.ts';
import { checkFunctions } from '../../infra/aws/smoke/direct.ts';
import { CALLS, useEmulator } from './use-emulator.ts';

const used = useEmulator();
let checks: Check[];
let claims: Check[];

beforeAll(async () => {
  const { emulator, urlOf } = used();
  const credentials = { accessKeyId: 'operator', secretAccessKey: 'secret' };
  const lambda = new LambdaClient({ endpoint: emulator.lambda, region: 'us-east-1', credentials });
  const names = Object.fromEntries(CALLS.map(({ app }) => [app, app]));
  const sources = Object.fromEntries(CALLS.map(({ app, infile }) => [app, urlOf(infile)]));
  const { bucket, client: s3 } = emulator.storage;
  const rule = { ID: 'results', Status: 'Enabled', Filter: { Prefix: '' }, Expiration: { Days: 1 } } as const;
  await s3.send(
    new PutBucketLifecycleConfigurationCommand({ Bucket: bucket, LifecycleConfiguration: { Rules: [rule] } }),
  );
  const deployment = {
    base: emulator.base,
    apiKey: emulator.apiKey,
    frontUrl: `${emulator.base}/api/`,
    isolated: true,
    lambda,
    s3,
    dynamodb: emulator.table.client,
    names,
    bucket,
    bucketUrl: `${emulator.storage.endpoint}/${bucket}`,
    table: 'keys',
  };
  [checks, claims] = await Promise.all([
    collect(checkFunctions({ lambda, names, isolated: true, sources })),
    collect(checkClaims(deployment)),
  ]);
});

async function collect(checking: AsyncIterable<Check>): Promise<Check[]> {
  const all: Check[] = [];
  for await (const check of checking) all.push(check);
  return all;
}

it("passes the operator's checks of every function", () => {
  expect(checks).toHaveLength(2 * CALLS.length);
  expect(checks.filter(({ passed }) => !passed)).toEqual([]);
});

it("passes the operator's checks of what must be verified on AWS", () => {
  expect(claims).toHaveLength(6);
  expect(claims.filter(({ passed }) => !passed)).toEqual([]);
});

it('reports that there is no sandbox under the filter of Lambda, and how many processes Chromium has', () => {
  const seen = Object.fromEntries(checks.map(({ title, seen }) => [title, seen]));

  for (const tool of ['pdftools', 'imageproc', 'doc2any']) {
    expect(seen[`${tool}: invoked directly, returns a file`]).toMatch(/^\d+ bytes, sandbox: none$/);
  }
  for (const tool of ['html2pdf', 'html2image']) {
    const text = seen[`${tool}: invoked directly, returns a file`];
    expect(text).toMatch(/sandbox: none, \d+ processes of Chromium$/);
    // The browser and its network process. The page's may have ended, and the next one's not have started.
    expect(Number(/(\d+) processes/.exec(text!)![1])).toBeGreaterThanOrEqual(2);
  }
});
