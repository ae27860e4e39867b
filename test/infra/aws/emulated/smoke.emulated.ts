import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Check } from '../../../../infra/aws/smoke/check.ts';
import { checkFunctions } from '../../../../infra/aws/smoke/direct.ts';
import { CALLS, useEmulator } from './use-emulator.ts';

const used = useEmulator();
let checks: Check[];

beforeAll(async () => {
  const { emulator, urlOf } = used();
  const credentials = { accessKeyId: 'operator', secretAccessKey: 'secret' };
  const lambda = new LambdaClient({ endpoint: emulator.lambda, region: 'us-east-1', credentials });
  const names = Object.fromEntries(CALLS.map(({ app }) => [app, app]));
  const sources = Object.fromEntries(CALLS.map(({ app, infile }) => [app, urlOf(infile)]));
  checks = [];
  for await (const check of checkFunctions({ lambda, names, isolated: true, sources })) checks.push(check);
});
afterAll(() => {
  checks = [];
});

it("passes the operator's checks of every function", () => {
  expect(checks).toHaveLength(2 * CALLS.length);
  expect(checks.filter(({ passed }) => !passed)).toEqual([]);
});

it('reports that no sandbox holds under the filter of Lambda, and how many processes Chromium has', () => {
  const seen = Object.fromEntries(checks.map(({ title, seen }) => [title, seen]));

  for (const tool of ['pdftools', 'imageproc', 'doc2any']) {
    expect(seen[`${tool}: invoked directly, returns a file`]).toMatch(/^\d+ bytes, sandbox: none$/);
  }
  for (const tool of ['html2pdf', 'html2image']) {
    const text = seen[`${tool}: invoked directly, returns a file`];
    expect(text).toMatch(/sandbox: none, \d+ processes of Chromium$/);
    expect(Number(/(\d+) processes/.exec(text!)![1])).toBeGreaterThanOrEqual(3);
  }
});
