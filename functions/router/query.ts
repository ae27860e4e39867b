import { ConversionError } from '../shared/errors.ts';
import type { Parameter } from '../shared/options/option.ts';

/** Maximum number of parameters of a request, including those of an `infile` that is not encoded. */
export const MAX_PARAMETERS = 500;

/**
 * Decodes the text of a query into pairs in their order. Of too many, only one more than the maximum is decoded, because nobody has
 * checked the key yet.
 */
export function decodeQuery(text: string): Parameter[] {
  return [...new URLSearchParams(text.slice(0, endOf(text)))].map(([name, value]) => ({ name, value }));
}

/** @throws ConversionError `BAD_PARAMETER` for too many parameters. */
export function checkLength(query: readonly Parameter[]): void {
  if (query.length <= MAX_PARAMETERS) return;
  throw new ConversionError('BAD_PARAMETER', `A request may have at most ${MAX_PARAMETERS} parameters.`);
}

/** Returns where the first pair beyond the maximum ends, or `undefined` for the end of the text. */
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
