import { distance } from 'fastest-levenshtein';
import { ConversionError } from '../errors.ts';
import type { Format } from '../formats.ts';
import { alternatives, quote } from '../quote.ts';
import type { Tool } from '../tool.ts';
import { createIssues, MAX_SHOWN } from './issues.ts';
import {
  MAX_URL_LENGTH,
  MAX_VALUES,
  type Option,
  type Options,
  type Parameter,
  type ValuesOf,
} from './option.ts';

interface ReadOptions {
  readonly options: Readonly<Record<string, unknown>>;
  /** Names of options that were accepted but have no effect. */
  readonly ignored: readonly string[];
  readonly issues: readonly ConversionError[];
}

/** Maximum number of unknown names that get a suggestion. Searching for a similar name is the slowest part. */
const MAX_SUGGESTIONS = 3;

/** Reads a tool's options from the pairs that remain after the common parameters, and collects every mistake. */
export function readOptions(tool: Tool, given: readonly Parameter[], format?: Format): ReadOptions {
  const issues = createIssues();
  const { byName, names } = indexOf(tool);
  const parameters = given.flatMap((one): readonly Parameter[] => {
    // The only place that bounds a value. What parses one may rely on it.
    const max = byName.get(one.name)?.option.maxLength ?? MAX_URL_LENGTH;
    if (one.value.length > max) {
      issues.add(boundError(one.name, `must have at most ${max} characters`, one.value.length));
      return [];
    }
    return issues.attempt(() => tool.expand?.(one, format), one.name) ?? [one];
  });
  const pairs = new Map<string, Parameter[]>();
  const unknown = new Set<string>();
  const ignored = new Set<string>();
  for (const pair of parameters) {
    const known = byName.get(pair.name);
    if (known?.option.ignores?.(pair.value, format)) ignored.add(pair.name);
    else if (known)
      pairs
        .set(known.key, pairs.get(known.key) ?? [])
        .get(known.key)!
        .push(pair);
    else if (!tool.ignored.includes(pair.name) && unknown.size < MAX_SHOWN && !unknown.has(pair.name)) {
      issues.add(unknownOptionError(tool, pair.name, unknown.size < MAX_SUGGESTIONS ? names : []));
      unknown.add(pair.name);
    }
  }

  const entries = Object.entries(tool.options).map(([key, option]) => {
    const own = pairs.get(key);
    if (!own) return [key, option.default];
    const excess = excessError(option, own);
    if (excess) issues.add(excess);
    if (excess && option.repeatable) return [key, option.default];
    return [key, issues.attempt(() => option.read(own), own[0]?.name) ?? option.default];
  });
  const options: Record<string, unknown> = Object.fromEntries(entries);
  for (const { name } of parameters) {
    const known = byName.get(name);
    const reason = known && reasonWithoutEffect(known.option, tool, options, format);
    if (reason === undefined) {
      if (tool.ignored.includes(name)) ignored.add(name);
    } else if (known?.option.protects) issues.add(unprotectedError(name, reason));
    else {
      ignored.add(name);
      // The engine never sees an option without an effect.
      options[known!.key] = tool.options[known!.key]!.default;
    }
  }
  for (const issue of tool.validate?.(options, format) ?? []) issues.add(issue);
  return { options, ignored: [...ignored], issues: issues.all };
}

/** The options of a request, by name. */
export interface NamedOptions {
  readonly tool: Tool;
  readonly format: Format;
  /** Names of all options that the caller set. */
  readonly optionNames: readonly string[];
  /** Names of options that were accepted but do not affect this output. */
  readonly ignored: readonly string[];
}

/** Returns the names of the options that do not affect this output or, if it is known, this kind of source. */
export function namesWithoutEffect(
  { tool, format, optionNames, ignored }: NamedOptions,
  sourceKind: string | undefined,
): string[] {
  if (sourceKind === undefined) return [...ignored];
  const { byName } = indexOf(tool);
  const unsupported = optionNames.filter((name) => {
    const { inputs, outputs, anyOutputFrom } = byName.get(name)?.option ?? {};
    const isWritten = !outputs || outputs.includes(format) || anyOutputFrom?.includes(sourceKind);
    return !isWritten || inputs?.includes(sourceKind) === false;
  });
  return [...new Set([...ignored, ...unsupported])];
}

/** Returns the tool's option with this name, which may be part of its sequence. */
export function optionNamed(tool: Tool, name: string): Option<unknown> | undefined {
  return indexOf(tool).byName.get(name)?.option;
}

/** Returns the default values of all options. */
export function defaultsOf<P extends Options>(options: P): ValuesOf<P> {
  const defaults = Object.entries(options).map(([key, option]) => [key, option.default]);
  return Object.fromEntries(defaults) as ValuesOf<P>;
}

/** Returns the error for a parameter that was given more than once, under any of its names. */
export function repeatedError(pairs: readonly Parameter[]): ConversionError {
  const names = [...new Set(pairs.map(({ name }) => `'${name}'`))];
  const subject = names.length === 1 ? 'Parameter' : 'Parameters';
  return new ConversionError(
    'BAD_PARAMETER',
    `${subject} ${names.join(' and ')} must be given at most once, got ${pairs.length} values.`,
    { parameter: pairs[0]?.name },
  );
}

/** Returns the error for an option that has more values than it may have, if it does. */
function excessError(option: Option<unknown>, pairs: readonly Parameter[]): ConversionError | undefined {
  const { name } = pairs[0]!;
  const { length } = pairs;
  if (!option.repeatable) return length > 1 ? repeatedError(pairs) : undefined;
  if (length > MAX_VALUES && option.readers)
    return boundError(name, `is one of at most ${MAX_VALUES} operators of a request`, length);
  if (length > MAX_VALUES) return boundError(name, `must be given at most ${MAX_VALUES} times`, length);
  const total = pairs.reduce((sum, { value }) => sum + value.length, 0);
  if (total <= (option.maxTotal ?? total)) return undefined;
  return boundError(name, `must have at most ${option.maxTotal} characters in all its values`, total);
}

function boundError(name: string, rule: string, got: number): ConversionError {
  const message = `Parameter ${quote(name)} ${rule}, got ${got}.`;
  return new ConversionError('BAD_PARAMETER', message, { parameter: name });
}

interface Indexed {
  /** Key in `Tool.options`. */
  readonly key: string;
  /** The option with this name, which may be part of a sequence. */
  readonly option: Option<unknown>;
}

interface Index {
  readonly byName: ReadonlyMap<string, Indexed>;
  readonly names: readonly string[];
}

const indexes = new WeakMap<Tool, Index>();

function indexOf(tool: Tool): Index {
  const known = indexes.get(tool);
  if (known) return known;
  const entries = Object.entries(tool.options).flatMap(([key, option]) =>
    Object.values(option.readers ?? { [key]: option }).flatMap((each) =>
      each.names.map((name) => [name, { key, option: each }] as const),
    ),
  );
  const index = { byName: new Map(entries), names: entries.map(([name]) => name) };
  indexes.set(tool, index);
  return index;
}

/** Completes "has no effect …". Returns `undefined` for an option that may have one. */
function reasonWithoutEffect(
  { outputs, anyOutputFrom, with: others }: Option<unknown>,
  tool: Tool,
  values: Readonly<Record<string, unknown>>,
  format: Format | undefined,
): string | undefined {
  if (format !== undefined && outputs && !anyOutputFrom && !outputs.includes(format))
    return `on ${format} output`;
  if (!others || others.some((key) => isSet(values[key]))) return undefined;
  return `without ${alternatives(others.map((key) => `'${tool.options[key]!.names[0]}'`))}`;
}

function isSet(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

function unprotectedError(name: string, reason: string): ConversionError {
  const message = `Parameter ${quote(name)} has no effect ${reason}.`;
  return new ConversionError('BAD_PARAMETER', message, { parameter: name });
}

function unknownOptionError(tool: Tool, name: string, names: readonly string[]): ConversionError {
  if (tool.refused.includes(name)) {
    const instead = tool.instead?.[name];
    const hint = instead === undefined ? '' : ` ${instead}`;
    const message = `Option ${quote(name)} is not allowed, because it would access files or the network, or run code.${hint}`;
    return new ConversionError('BAD_PARAMETER', message, { parameter: name });
  }
  const guess = suggest(name, names);
  const hint = guess === undefined ? '' : ` Did you mean '${guess}'?`;
  const message = `Unknown option ${quote(name)} for ${tool.name}.${hint}`;
  return new ConversionError('UNKNOWN_PARAMETER', message, { parameter: name });
}

/** Returns the name that is most similar to a mistyped one, or `undefined` if none is similar. */
export function suggest(name: string, names: readonly string[]): string | undefined {
  if (name.length > 60) return undefined;
  const letters = (text: string) => text.toLowerCase().replace(/^-+/, '').replaceAll('_', '-');
  const ranked = names
    .map((known) => ({ known, edits: distance(letters(name), letters(known)) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  const { length } = letters(name);
  // Two swapped letters count as two edits. A suggestion must share at least one letter.
  const max = Math.min(length - 1, length < 4 ? 1 : Math.max(2, length / 3));
  return best && best.edits <= max ? best.known : undefined;
}
