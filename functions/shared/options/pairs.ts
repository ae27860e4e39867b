import type { Parameter } from './option.ts';

/** Valid values; completes "must be …". */
const RULE = 'must be a string, a number, a boolean or an array of these';

/**
 * Returns the fields of a JSON object as parameters, with one for each element of an array. Any other value is passed to
 * `refuse`, with the rule that it breaks.
 */
export function pairsOf(
  fields: Readonly<Record<string, unknown>>,
  refuse: (name: string, rule: string, value: unknown) => void,
): Parameter[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (values.every(isScalar)) return values.map((each) => ({ name, value: String(each) }));
    refuse(name, RULE, value);
    return [];
  });
}

function isScalar(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
