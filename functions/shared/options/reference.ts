import { alternatives } from '../quote.ts';
import type { Tool } from '../tool.ts';
import { type JsonSchema, type Option, SWITCH_RULE } from './option.ts';

/** An option as the reference describes it. */
export interface OptionReference {
  readonly option: Option<unknown>;
  /** Valid values; completes "must be …". */
  readonly rule: string;
  readonly default: string | undefined;
  /** Where the option has an effect, with names in backticks. Empty if it has one everywhere. */
  readonly scope: string;
}

/**
 * Returns the options of a tool by category, in their order. The operators of a sequence are listed as separate
 * options.
 */
export function referenceOf(tool: Tool): ReadonlyMap<string, readonly OptionReference[]> {
  const options = Object.values(tool.options).flatMap((option): readonly Option<unknown>[] =>
    Object.values(option.readers ?? { option }).filter(({ names }) => names.length > 0),
  );
  const described = options.map((option) => ({
    option,
    rule: option.rule === SWITCH_RULE ? 'on or off' : option.rule,
    default: defaultOf(option),
    scope: describeScope(option, tool),
  }));
  return Map.groupBy(described, ({ option: { category = '' } }) => category);
}

function describeScope(option: Option<unknown>, { formats, options }: Tool): string {
  const { inputs, anyOutputFrom, with: others, outputs = formats } = option;
  const written = formats.filter((format) => outputs.includes(format));
  const dotted = (kinds: readonly string[]) => kinds.map((kind) => `.${kind}`).join(' ');
  return [
    ...(inputs ? [`from ${dotted(inputs.slice(0, 4))}${inputs.length > 4 ? ' …' : ''}`] : []),
    ...(written.length < formats.length ? [`to ${dotted(written)}`] : []),
    ...(anyOutputFrom ? [`from ${dotted(anyOutputFrom)} to any`] : []),
    ...(others ? [`with ${alternatives(others.map((key) => `\`${options[key]!.names[0]}\``))}`] : []),
  ].join(', ');
}

function defaultOf({ default: value, schema }: Option<unknown>): string | undefined {
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return undefined;
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  if (typeof value === 'object') return String(schema.default);
  return String(value);
}

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
