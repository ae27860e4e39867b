import { CONVERSION_LIMITS, type ConversionLimits } from '../tool.ts';
import { numberSetting } from './environment.ts';

/** Range of the sizes of sources and results. */
export const MEGABYTES = { min: 1, max: 2000 } as const;

/**
 * Reads the limits that an operator may set: MAX_SOURCE_MB, MAX_RESULT_MB, SETTLE_TIME and CONVERSION_TIME (in
 * seconds, at most `maxSeconds`).
 */
export function conversionLimitSettings({ maxSeconds }: { maxSeconds: number }): ConversionLimits {
  const megabytes = (name: string, bytes: number) => 1e6 * numberSetting(name, bytes / 1e6, MEGABYTES);
  return {
    ...CONVERSION_LIMITS,
    sourceBytes: megabytes('MAX_SOURCE_MB', CONVERSION_LIMITS.sourceBytes),
    resultBytes: megabytes('MAX_RESULT_MB', CONVERSION_LIMITS.resultBytes),
    settleTime: 1000 * numberSetting('SETTLE_TIME', CONVERSION_LIMITS.settleTime / 1000, { min: 1, max: 60 }),
    conversionTime:
      1000 *
      numberSetting('CONVERSION_TIME', CONVERSION_LIMITS.conversionTime / 1000, { min: 1, max: maxSeconds }),
  };
}
