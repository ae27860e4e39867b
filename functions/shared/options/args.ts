import { ConversionError } from '../errors.ts';
import type { Tool } from '../tool.ts';
import { type Given, type Parameter, quote } from './parameters.ts';
import { optionNamed } from './read-options.ts';

/** Maximum number of characters of `_args`. */
const MAX_LENGTH = 8000;

/**
 * Reads options as on a command line: `-crop 50x50+0+0 -resize 200x`. They keep their order. Words are quoted as in a
 * POSIX shell; other characters that a shell would interpret stand for themselves.
 * @throws ConversionError `BAD_PARAMETER` for an open quote, or a value without an option.
 */
export function readArgs(text: string, tool: Tool): Given[] {
  const words = splitWords(text);
  const given: Given[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at]!;
    const equals = word.indexOf('=');
    const inline = equals > 0 && optionNamed(tool, word.slice(0, equals)) !== undefined;
    const name = inline ? word.slice(0, equals) : word;
    const option = optionNamed(tool, name);
    if (!option && !/^[-+]/.test(word)) {
      throw new ConversionError(
        'BAD_PARAMETER',
        `Parameter '_args' contains the value ${quote(word)} without an option before it.`,
      );
    }
    if (inline) {
      given.push({ name, value: word.slice(equals + 1) });
      continue;
    }
    const next = words[at + 1];
    const takesValue = option ? !option.isSwitch : next !== undefined && !/^[-+]/.test(next);
    if (!takesValue || next === undefined) {
      given.push({ name, value: '' });
      continue;
    }
    at += 1;
    const second = words[at + 1];
    const joint = option && second !== undefined ? jointOf(option, next, second) : undefined;
    if (joint !== undefined) at += 1;
    given.push({ name, value: joint === undefined ? next : `${next}${joint}${second}` });
  }
  return given;
}

/** Returns what joins two words of a value, or `undefined` if the first one is the whole value. */
function jointOf({ isPair }: Parameter<unknown>, first: string, second: string): string | undefined {
  // As in wkhtmltopdf: `--cookie name value`.
  if (isPair === true) return /[:,]/.test(first) ? undefined : ':';
  // As in ImageMagick: `-distort SRT 45`.
  return isPair === 'words' && !first.includes(' ') && !/^[-+][a-z]/.test(second) ? ' ' : undefined;
}

/** Splits text into words as a POSIX shell does: at white space outside quotes. */
function splitWords(text: string): string[] {
  if (text.length > MAX_LENGTH) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameter '_args' must have at most ${MAX_LENGTH} characters, got ${text.length}.`,
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
