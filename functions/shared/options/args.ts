import { ConversionError } from '../errors.ts';
import { quote } from '../quote.ts';
import type { Tool } from '../tool.ts';
import type { Option, Parameter } from './option.ts';
import { optionNamed } from './read-options.ts';

/** Maximum number of characters of `_args`. */
export const MAX_ARGS_LENGTH = 8000;

/**
 * Reads options as on a command line, in order: `-crop 50x50+0+0 -resize 200x`. Words are quoted as in a POSIX shell.
 * Other characters that a shell would interpret have no special meaning.
 * @throws ConversionError `BAD_PARAMETER` for an open quote, or a value without an option.
 */
export function readArgs(text: string, tool: Tool): Parameter[] {
  const words = splitWords(text);
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

/** Splits text into words as a POSIX shell does: at white space outside quotes. */
function splitWords(text: string): string[] {
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
