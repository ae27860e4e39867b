import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Check, checkService } from '../../infra/aws/smoke/checks.ts';
import { SAMPLES, SAMPLES_FOLDER } from '../../infra/local/self-check/samples.ts';
import { useService } from './use-service.ts';

const used = useService(() =>
  Object.fromEntries(SAMPLES.map(({ infile }) => [infile, readFileSync(join(SAMPLES_FOLDER, infile))])),
);

it('passes every check that an operator runs after a deployment', async () => {
  const { service, sources } = used();

  const tried = checkService({
    base: service.base,
    apiKey: service.apiKey,
    sources: Object.fromEntries(SAMPLES.map(({ tool, infile }) => [tool, sources.urlOf(infile)])),
  });
  const checks: Check[] = [];
  for await (const check of tried) checks.push(check);

  expect(checks.length).toBeGreaterThanOrEqual(10);
  expect(checks.filter(({ passed }) => !passed)).toEqual([]);
});
