import { ERRORS, type ErrorCode } from '../../../functions/shared/errors.ts';
import type { Expectation } from '../files/manifest.ts';

/** How a conversion ended: with a good result, a typed error, or something invalid. */
export type Outcome =
  | { readonly kind: 'ok'; readonly note?: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string }
  | { readonly kind: 'wrong'; readonly reason: string };

/** Codes about the source. Any other code is a fault of the service or of the run. */
const OF_THE_SOURCE: ReadonlySet<string> = new Set<ErrorCode>([
  'UNSUPPORTED_SOURCE',
  'CORRUPT_SOURCE',
  'PASSWORD_REQUIRED',
  'WRONG_PASSWORD',
  'CONVERSION_FAILED',
  'SOURCE_TOO_LARGE',
  'RESULT_TOO_LARGE',
]);

/** Returns why an outcome is not the expected one, or `undefined` if it is. */
export function judge(
  outcome: Outcome,
  expected: Expectation,
  { milliseconds, deadline }: { milliseconds: number; deadline: number },
): string | undefined {
  if (outcome.kind === 'wrong') return outcome.reason;
  if (outcome.kind === 'ok') return expected === 'error' ? 'converted, an error was expected' : undefined;

  const { code, message } = outcome;
  const said = `${code}: ${message}`;
  if (!Object.hasOwn(ERRORS, code)) return `no code of ours: ${said}`;
  if (expected === 'slow' && code === 'TIMED_OUT') return undefined;
  if (expected === 'converts' || expected === 'slow') return said;
  // A source that never ends has its own time limit, long before the deadline.
  const endless = code === 'TIMED_OUT' && expected === 'error';
  if (!OF_THE_SOURCE.has(code) && !endless) return said;
  return milliseconds > deadline / 2 ? `refused only after ${milliseconds} ms: ${said}` : undefined;
}
