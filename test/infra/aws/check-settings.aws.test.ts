import { describe, expect, it } from 'vitest';
import * as tools from '../../../functions/tools.ts';
import { checkSettings } from '../../../infra/aws/check-settings.ts';
import { type Settings, settings } from '../../../infra/aws/settings.ts';

const check = (changes: object) =>
  checkSettings({ ...settings, ...changes } as Settings, Object.values(tools));

describe('the settings', () => {
  it('are accepted as they are, without limits and without demo mode', () => {
    check({});
    check({ keyLimits: { perMinute: 0, perMonth: 0, concurrent: 0 }, demo: undefined });
  });

  it.each([
    ['keyLimits', { perMinute: -1 }, 'keyLimits.perMinute must be an integer from 0 to 1000000000, got -1.'],
    ['keyLimits', { perMonth: 1.5 }, 'keyLimits.perMonth must be'],
    ['keyLimits', { concurrent: 1e10 }, 'keyLimits.concurrent must be'],
    ['keyLimits', { concurrent: undefined }, 'keyLimits.concurrent must be'],
    ['keyLimits', { perMonth: '100' }, 'keyLimits.perMonth must be'],
    ['demo', { perAddress: Number.NaN }, 'demo.perAddress must be'],
    [
      'limits',
      { sourceMegabytes: 0.5 },
      'limits.sourceMegabytes must be an integer from 1 to 2000, got 0.5.',
    ],
    ['limits', { resultMegabytes: 5000 }, 'limits.resultMegabytes must be'],
    ['limits', { seconds: 241 }, 'limits.seconds must be an integer from 1 to 240, got 241.'],
  ] as const)('are rejected if %s contains %j', (group, changes, message) => {
    expect(() => check({ [group]: { ...settings[group], ...changes } })).toThrow(message);
  });

  it('are rejected if WAF would count the addresses of CloudFront', () => {
    check({ wafRate: 500 });
    check({ front: { timeout: 60 } });
    expect(() => check({ wafRate: 500, front: { timeout: 60 } })).toThrow('wafRate cannot be set together');
  });

  it('are rejected with all mistakes in one message', () => {
    expect(() =>
      check({ urlLifetime: 1.5, keyLimits: { perMinute: -1, perMonth: -2, concurrent: 0 } }),
    ).toThrow(/urlLifetime .* got 1\.5.*perMinute .* got -1\..*perMonth .* got -2\./);
  });
});
