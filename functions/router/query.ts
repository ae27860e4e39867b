import { ConversionError } from '../shared/errors.ts';
import type { Parameter } from '../shared/options/option.ts';

/** Maximum number of parameters of a request, including those in an unencoded `infile`. */
export const MAX_PARAMETERS = 500;

/**
 * Decodes a query into pairs in their order. Decodes at most one more than the maximum, because the key has not been
 * checked yet.
 */
export function decodeQuery(text: string): Parameter[] {
  return [...new URLSearchParams(text.slice(0, endOf(text)))].map(([name, value]) => ({ name, value }));
}

/** @throws ConversionError `BAD_PARAMETER` for too many parameters. */
export function checkLength(query: readonly Parameter[]): void {
  if (query.length <= MAX_PARAMETERS) return;
  throw new ConversionError('BAD_PARAMETER', `A request may have at most ${MAX_PARAMETERS} parameters.`);
}

/** Returns the end of the first pair beyond the maximum, or `undefined` if there is none. */
function endOf(text: string): number | undefined {
  let [start, count] = [0, 0];
  for (;;) {
    const end = text.indexOf('&', start);
    if (end < 0) return undefined;
    if (end > start) count += 1;
    if (count > MAX_PARAMETERS) return end;
    start = end + 1;
  }
}
