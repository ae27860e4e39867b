import type { Level, LogFormat } from '../log.ts';
import type { RateLimits } from '../rate-limits.ts';
import { choiceSetting, numberSetting, switchSetting } from './environment.ts';

/** Range of the limits on calls. */
export const COUNTS = { min: 0, max: 1_000_000_000 } as const;

/**
 * Reads the limits of keys without their own limits: LIMIT_PER_MINUTE, LIMIT_PER_MONTH, LIMIT_CONCURRENT. 0 means no
 * limit.
 */
export function rateLimitSettings(defaults: Required<RateLimits>): RateLimits {
  return withoutZeros({
    perMinute: numberSetting('LIMIT_PER_MINUTE', defaults.perMinute, COUNTS),
    perMonth: numberSetting('LIMIT_PER_MONTH', defaults.perMonth, COUNTS),
    concurrent: numberSetting('LIMIT_CONCURRENT', defaults.concurrent, COUNTS),
  });
}

/** Removes limits that are 0, which means no limit. */
export function withoutZeros(limits: Required<RateLimits>): RateLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit > 0));
}

/** Maximum numbers of demo conversions per hour. */
export interface DemoSettings {
  readonly perAddress: number;
  readonly perHour: number;
}

/** Reads DEMO (`on` or `off`), DEMO_PER_ADDRESS and DEMO_PER_HOUR. Returns `undefined` if demo mode is off. */
export function demoSettings(): DemoSettings | undefined {
  if (!switchSetting('DEMO', true)) return undefined;
  return {
    perAddress: numberSetting('DEMO_PER_ADDRESS', 5, COUNTS),
    perHour: numberSetting('DEMO_PER_HOUR', 60, COUNTS),
  };
}

/** Reads LOG_FORMAT (`json` or `pretty`) and LOG_LEVEL. */
export function logSettings(defaultFormat: LogFormat): { format: LogFormat; level: Level } {
  return {
    format: choiceSetting('LOG_FORMAT', ['json', 'pretty'], defaultFormat),
    level: choiceSetting('LOG_LEVEL', ['debug', 'info', 'warn', 'error'], 'info'),
  };
}
