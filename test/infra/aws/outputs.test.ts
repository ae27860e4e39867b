import { afterEach, expect, it, vi } from 'vitest';
import { regionOption } from '../../../infra/aws/outputs.ts';

afterEach(() => vi.unstubAllEnvs());

it('is the chosen one, AWS_REGION, AWS_DEFAULT_REGION or that of the profile, in this order', () => {
  vi.stubEnv('AWS_REGION', '');
  vi.stubEnv('AWS_DEFAULT_REGION', '');
  const none = regionOption();
  vi.stubEnv('AWS_DEFAULT_REGION', 'eu-central-1');
  const byDefault = regionOption();
  vi.stubEnv('AWS_REGION', 'us-east-1');

  expect([none, byDefault, regionOption(), regionOption('eu-west-1')]).toEqual([
    {},
    { region: 'eu-central-1' },
    { region: 'us-east-1' },
    { region: 'eu-west-1' },
  ]);
});
