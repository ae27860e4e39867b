import type { Level, LogFormat } from '../log.ts';
import type { RateLimits } from '../rate-limits.ts';
import { choiceSetting } from './environment.ts';

/** Range of the limits on calls. */
export const COUNTS = { min: 0, max: 1_000_000_000 } as const;

/** Removes limits that are 0, which means no limit. */
export function withoutZeros(limits: Required<RateLimits>): RateLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit > 0));
}

/** Maximum numbers of demo conversions. */
export interface DemoSettings {
  /** Per hour for one IP address. */
  readonly perAddress: number;
  /** Per hour in total. */
  readonly perHour: number;
  /** At the same time. No limit if absent. */
  readonly concurrent?: number;
}

/** Reads LOG_FORMAT (`json` or `pretty`) and LOG_LEVEL. */
export function logSettings(defaultFormat: LogFormat): { format: LogFormat; level: Level } {
  return {
    format: choiceSetting('LOG_FORMAT', ['json', 'pretty'], defaultFormat),
    level: choiceSetting('LOG_LEVEL', ['debug', 'info', 'warn', 'error'], 'info'),
  };
}
