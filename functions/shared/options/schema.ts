import type { JsonSchema, Option } from './option.ts';

/** Returns the names of an option, or of each operator of a sequence, with the schema of their values. */
export function properties(option: Option<unknown>): Array<readonly [string, JsonSchema]> {
  if (option.readers) return Object.values(option.readers).flatMap(properties);
  const { names, description, schema, repeatable, default: absent } = option;
  const value = repeatable ? { anyOf: [schema, { type: 'array', items: schema }] } : schema;
  const described = {
    ...value,
    description: description,
    ...(isScalar(absent) && schema.type !== undefined && !repeatable && { default: absent }),
  };
  return names.map((name) => [name, described] as const);
}

function isScalar(value: unknown): boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}
