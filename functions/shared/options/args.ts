import { ConversionError } from '../errors.ts';
import { quote } from '../quote.ts';
import type { Tool } from '../tool.ts';
import type { Option, Parameter } from './option.ts';
import { optionNamed } from './read-options.ts';

/** Maximum number of characters of `_args`. */
export const MAX_ARGS_LENGTH = 8000;

/**
 * Reads the words of a command line as options, in order: `-crop 50x50+0+0 -resize 200x`.
 * @throws ConversionError `BAD_PARAMETER` for a value without an option.
 */
export function readArgs(words: readonly string[], tool: Tool): Parameter[] {
  const parameters: Parameter[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const equals = word.indexOf('=');
    const inline = equals > 0 && optionNamed(tool, word.slice(0, equals)) !== undefined;
    const name = inline ? word.slice(0, equals) : word;
    const option = optionNamed(tool, name);
    if (!option && !/^[-+]/.test(word)) {
      throw new ConversionError(
        'BAD_PARAMETER',
        `Parameter '_args' contains the value ${quote(word)} without an option before it. Leave out the name of the program and its files.`,
      );
    }
    if (inline) {
      parameters.push({ name, value: word.slice(equals + 1) });
      continue;
    }
    const value = wordsAfter(option, words, at + 1);
    at += value.length;
    parameters.push({ name, value: value.join(option?.words === 'pair' ? ':' : ' ') });
  }
  return parameters;
}

const OPTION = /^[-+]{1,2}[a-z]/i;

/**
 * Returns the words from `from` on that belong to an option. For an unknown option, these are all words before the
 * next one.
 */
export function wordsAfter(
  option: Option<unknown> | undefined,
  words: readonly string[],
  from = 0,
): readonly string[] {
  if (!option) {
    let end = from;
    while (end < words.length && !OPTION.test(words[end]!)) end += 1;
    return words.slice(from, end);
  }
  const [first, second] = words.slice(from, from + 2);
  if (first === undefined || option.words === 'none') return [];
  switch (option.words) {
    case 'optional':
      return OPTION.test(first) ? [] : [first];
    // As in wkhtmltopdf: `--cookie name value`.
    case 'pair':
      return /[:,]/.test(first) || second === undefined ? [first] : [first, second];
    // As in ImageMagick: `-distort SRT 45`.
    case 'two':
      return first.includes(' ') || second === undefined || OPTION.test(second) ? [first] : [first, second];
    case undefined:
      return [first];
    default:
      return option.words satisfies never;
  }
}

/**
 * Splits a command line into words as a POSIX shell does: at white space outside quotes. Other characters that a shell
 * would interpret have no special meaning.
 * @throws ConversionError `BAD_PARAMETER` for a text that is too long, and for an open quote.
 */
export function splitWords(text: string): string[] {
  if (text.length > MAX_ARGS_LENGTH) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameter '_args' must have at most ${MAX_ARGS_LENGTH} characters, got ${text.length}.`,
    );
  }
  const words: string[] = [];
  const part = /\s+|'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)|[^\s'"\\]+|./gsy;
  let word: string | undefined;
  for (const [all, single, double, escaped] of text.matchAll(part)) {
    if (/^\s/.test(all)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (/^['"\\]$/.test(all)) {
      throw new ConversionError('BAD_PARAMETER', `Parameter '_args' contains ${all} that is not closed.`);
    } else word = (word ?? '') + (single ?? double?.replace(/\\(["\\$`])/g, '$1') ?? escaped ?? all);
  }
  return word === undefined ? words : [...words, word];
}

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

/**
 * Checks options that arrived in a map, whose order is unknown.
 * @throws ConversionError `BAD_PARAMETER` if the result depends on their order.
 */
export function checkOrder(pairs: readonly Parameter[], tool: Tool): void {
  for (const { order, readers } of Object.values(tool.options)) {
    const [first, second] = order && readers ? namesWithPlace(pairs, order.settings, readers) : [];
    if (first === undefined || second === undefined) continue;
    throw new ConversionError(
      'BAD_PARAMETER',
      `The order of ${quote(first)} and ${quote(second)} matters, but a signed link, API Gateway or an event does not preserve it. Send both, as on a command line, in one parameter: _args=${first} … ${second} …`,
      { parameter: first },
    );
  }
}

/** Returns the names whose position matters: operators, and settings that are given more than once. */
function namesWithPlace(
  pairs: readonly Parameter[],
  settings: ReadonlySet<string>,
  readers: Readonly<Record<string, Option<unknown>>>,
): string[] {
  // Two spellings of one option, such as `-dither` and `+dither`, count as a repetition.
  const ours = new Map(
    Object.values(readers).flatMap((reader) => reader.names.map((name) => [name, reader])),
  );
  const names = pairs.map(({ name }) => name).filter((name) => ours.has(name));
  const given = Map.groupBy(names, (name) => ours.get(name));
  return [...new Set(names)].filter((name) => !settings.has(name) || given.get(ours.get(name))!.length > 1);
}
