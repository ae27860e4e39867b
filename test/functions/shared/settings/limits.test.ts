import { afterEach, expect, it, vi } from 'vitest';
import { conversionLimitSettings } from '../../../../functions/shared/settings/limits.ts';
import { CONVERSION_LIMITS } from '../../../../functions/shared/tool.ts';

afterEach(() => vi.unstubAllEnvs());

it('keeps the default limits if nothing is set', () => {
  expect(conversionLimitSettings({ maxSeconds: 240 })).toEqual(CONVERSION_LIMITS);
});

it('reads megabytes and seconds', () => {
  vi.stubEnv('MAX_SOURCE_MB', '7');
  vi.stubEnv('CONVERSION_TIME', '12');

  const limits = conversionLimitSettings({ maxSeconds: 240 });

  expect(limits).toEqual({ ...CONVERSION_LIMITS, sourceBytes: 7_000_000, conversionTime: 12_000 });
});

it('rejects a time above the maximum of the deployment and names the setting', () => {
  vi.stubEnv('CONVERSION_TIME', '241');

  expect(() => conversionLimitSettings({ maxSeconds: 240 })).toThrow(/CONVERSION_TIME.*1 to 240.*'241'/);
});
