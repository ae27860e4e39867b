import cssColor from '@img/colour';
import { GEOMETRY_RULE, readGeometry } from '../../shared/options/geometry.ts';
import {
  option,
  readSwitch,
  readUrlOrFile,
  type Scope,
  SWITCH_RULE,
  URL_RULE,
  type Words,
} from '../../shared/options/option.ts';

/** A color with opacity, each channel from 0 to 1. */
export type Color = readonly [red: number, green: number, blue: number, opacity: number];

/** Parses a color, or returns `undefined`. */
export function parseColor(value: string): Color | undefined {
  // A `#` that is not percent-encoded starts the fragment and never arrives, so bare hexadecimal digits are accepted
  // as well.
  const text = /^([\da-f]{6}|[\da-f]{8})$/i.test(value) ? `#${value}` : value.trim().toLowerCase();
  if (value.length > 60) return undefined;
  if (text === 'none' || text === 'transparent') return [0, 0, 0, 0];
  return parseGray(text) ?? parseLongHex(text) ?? parseCss(text);
}

/** Parses a color that is known to be valid. */
export function toColor(value: string): Color {
  const color = parseColor(value);
  if (!color) throw new Error(`Not a color: ${value}`);
  return color;
}

/** Parses `gray0` to `gray100`, in percent. CSS has only `gray`. */
function parseGray(text: string): Color | undefined {
  const percent = Number(/^gr[ae]y(\d{1,3})$/.exec(text)?.[1] ?? Number.NaN);
  // X11 rounds these two values down and all others up.
  const half = percent === 50 || percent === 90 ? 0.5 : 0;
  const level = Math.round((percent * 255) / 100 - half) / 255;
  return percent <= 100 ? [level, level, level, 1] : undefined;
}

/** Parses `#rrrrggggbbbb`, with or without opacity. */
function parseLongHex(text: string): Color | undefined {
  const digits = /^#((?:[\da-f]{4}){3,4})$/.exec(text)?.[1];
  if (digits?.length !== 12 && digits?.length !== 16) return undefined;
  const [red, green, blue, opacity = 1] = digits
    .match(/.{4}/g)!
    .map((part) => Number.parseInt(part, 16) / 65_535);
  return [red!, green!, blue!, opacity];
}

function parseCss(text: string): Color | undefined {
  // ImageMagick has srgb() where CSS has rgb().
  const css = text.replace(/^s(?=rgba?\()/, '');
  if (!/^(#[\da-f]{3,8}|[a-z]+|(rgb|hsl)a?\([\d\s.,%/+-]+\))$/.test(css)) return undefined;
  try {
    const parsed = cssColor(css);
    const [red, green, blue] = parsed.rgb().array() as [number, number, number];
    return [red / 255, green / 255, blue / 255, parsed.alpha()];
  } catch {
    return undefined;
  }
}

/** Pixels per unit of length, for each axis. */
export interface Resolution {
  readonly x: number;
  readonly y: number;
}

/** Reads a resolution such as `300` or `204x98`. */
export function resolution(name: string, options: Scope & { readonly description: string }) {
  const parse = (value: string): Resolution | undefined => {
    const match = /^(\d{1,4}(?:\.\d+)?)(?:x(\d{1,4}(?:\.\d+)?))?$/i.exec(value);
    const x = Number(match?.[1]);
    const y = Number(match?.[2] ?? x);
    return x >= 1 && y >= 1 ? { x, y } : undefined;
  };
  return option(name, 'a number from 1 to 9999, or two such as 204x98', parse, options);
}

/**
 * A kind of value. `parse` returns the words that follow the operator on ImageMagick's command line, or `undefined`.
 *
 * ImageMagick expands `%` escapes in every value, except after a digit, and reads a file for a value that begins with
 * `@`. No kind accepts such a value.
 */
export interface Kind {
  /** Completes "must be …". */
  readonly rule: string;
  /** The words that follow on a command line; see `Option.words`. */
  readonly words?: Words;
  /** See `Option.maxLength`. */
  readonly maxLength?: number;
  /** See `Option.namesSource`. */
  readonly namesSource?: boolean;
  parse(value: string): readonly string[] | undefined;
}

const MAX_SIDE = 16_384;
const DIGITS = '(?:\\d{1,6}(?:\\.\\d{1,9})?|\\.\\d{1,9})';
const NUMBER = `[+-]?${DIGITS}%?`;

/** Returns the numbers in a value. */
function numbersIn(value: string): number[] {
  return (value.match(new RegExp(DIGITS, 'g')) ?? []).map(Number);
}

/**
 * Restores a plus that was not percent-encoded and arrived as a space. Of several signs in a row, each minus negates,
 * as in ImageMagick.
 */
function withPlus(value: string): string {
  return value
    .replaceAll(' ', '+')
    .replaceAll('×', 'x')
    .replace('\\!', '!')
    .replace(/[+-]{2,}/g, (signs) => (signs.replaceAll('+', '').length % 2 === 0 ? '+' : '-'));
}

/** The kind of an operator without a value. Its reader handles a value that turns the operator off. */
export const nothing: Kind = {
  rule: SWITCH_RULE,
  words: 'none',
  parse: (value) => (readSwitch(value) ? [] : undefined),
};

/** Reads up to `count` numbers in ImageMagick's notation, `1x2+3+4` or `1,2,3`, each at most `max`. */
export function numbers(
  example: string,
  { count = 4, max = 100 }: { count?: number; max?: number } = {},
): Kind {
  const pattern = new RegExp(`^${NUMBER}(?:(?:[x,]|(?=[+-]))${NUMBER}){0,${count - 1}}[!^<>]?$`, 'i');
  return {
    rule: `at most ${count} numbers, each at most ${max}, such as ${example}`,
    parse: (text) => {
      const value = withPlus(text);
      return pattern.test(value) && numbersIn(value).every((each) => each <= max) ? [value] : undefined;
    },
  };
}

/** Reads one number or percentage. */
export function amount(example: string, { min = 0, max = 100 }: { min?: number; max?: number } = {}): Kind {
  const pattern = new RegExp(`^${NUMBER}$`);
  return {
    rule: `a number from ${min} to ${max}, such as ${example}`,
    parse: (text) => {
      const value = withPlus(text);
      const number = Number.parseFloat(value);
      return pattern.test(value) && number >= min && number <= max ? [value] : undefined;
    },
  };
}

/** Reads a fraction of full brightness: a percentage, or a number up to 65535. */
export const brightness: Kind = {
  rule: 'a percentage from 0% to 100%, or a number from 0 to 65535',
  parse: (value) => {
    if (!new RegExp(`^${DIGITS}%?$`).test(value)) return undefined;
    return Number.parseFloat(value) <= (value.endsWith('%') ? 100 : 65_535) ? [value] : undefined;
  },
};

/** Reads a black point, a white point and a gamma. */
export const levels: Kind = {
  rule: 'a black point, a white point and a gamma from 0.1 to 10, such as 10%,90%,1.2',
  parse: (value) => {
    const parts = value.split(/[,x]/i);
    const gamma = Number(parts[2] ?? 1);
    const valid = parts.length <= 3 && parts.slice(0, 2).every((part) => brightness.parse(part));
    return valid && gamma >= 0.1 && gamma <= 10 ? [value] : undefined;
  },
};

/** Reads numbers or percentages of pixels. */
export const stretch: Kind = {
  rule: 'percentages of pixels such as 2%x1%, less than 100% in total, or numbers of pixels such as 100x50',
  parse: (value) => {
    if (!new RegExp(`^${DIGITS}%?(?:[x,]${DIGITS}%?)?$`, 'i').test(value)) return undefined;
    const [black = 0, white = black] = numbersIn(value);
    return !value.includes('%') || black + white < 100 ? [value] : undefined;
  },
};

/** Reads one gamma for all channels, or one for each. */
export const gammas: Kind = {
  rule: 'a number from 0.1 to 10, or three for red, green and blue',
  parse: (value) => {
    const parts = value.split(',');
    const valid =
      [1, 3].includes(parts.length) && parts.every((part) => new RegExp(`^${DIGITS}$`).test(part));
    return valid && parts.every((part) => Number(part) >= 0.1 && Number(part) <= 10) ? [value] : undefined;
  },
};

/** Reads a size in pixels or percent, or an area. */
export const size: Kind = {
  rule: GEOMETRY_RULE,
  parse: (value) => {
    const geometry = readGeometry(value);
    return geometry === undefined ? undefined : [geometry];
  },
};

const REGION = /^(\d{1,5}(?:\.\d+)?%?)?(?:([x:])(\d{1,5}(?:\.\d+)?%?)?)?([+-]\d{1,5})?([+-]\d{1,5})?$/i;

/**
 * Reads a region of the image, `WxH+x+y` or a ratio. Flags may be anywhere and have no effect. The offset defaults to
 * 0.
 */
export const region: Kind = {
  rule: `a region such as 300x200+10+20, 50%x50% or 16:9, with sides up to ${MAX_SIDE}`,
  parse: (text) => {
    const value = withPlus(text).replace(/[!^<>]/g, '');
    const match = REGION.exec(value);
    if (!match || value === '') return undefined;
    const [, width = '0', separator, height = '0', x = '+0', y = '+0'] = match;
    const sides = [Number.parseFloat(width), Number.parseFloat(height)];
    if (Math.max(...sides) > MAX_SIDE || (separator === ':' && Math.min(...sides) <= 0)) return undefined;
    return [`${width}${separator ? `${separator}${height}` : ''}${x}${y}`];
  },
};

/** Reads widths of edges. */
export const edges: Kind = {
  rule: `lengths such as 10x20, 10 or 5%, up to ${MAX_SIDE}`,
  parse: (value) =>
    /^\d{1,5}(\.\d+)?%?([x,]\d{1,5}(\.\d+)?%?)?$/i.test(value) && Math.max(...numbersIn(value)) <= MAX_SIDE
      ? [value.replace(/,/, 'x')]
      : undefined,
};

/** Reads degrees clockwise. */
export const degrees: Kind = {
  rule: 'degrees from -9999 to 9999, optionally followed by > or < for wide or tall images only',
  parse: (text) => {
    const value = withPlus(text);
    return /^[+-]?\d{1,4}(\.\d{1,4})?[<>]?$/.test(value) ? [value] : undefined;
  },
};

export const color: Kind = {
  rule: 'a color such as white, none, gray50, #ff8000 or rgb(255,128,0)',
  parse: (value) => (parseColor(value) ? [hashed(value)] : undefined),
};

/**
 * Restores a `#` that was not percent-encoded: it starts the fragment and never arrives, so bare hexadecimal digits
 * are accepted.
 */
function hashed(value: string): string {
  return /^([\da-f]{6}|[\da-f]{8})$/i.test(value) ? `#${value}` : value.trim();
}

/** Reads one of several words, which are separated by spaces in `list`. */
export function word(list: string): Kind {
  const words = list.split(' ');
  return {
    rule: `one of ${words.join(', ')}`,
    parse: (value) => {
      const found = words.find((each) => each.toLowerCase() === value.toLowerCase());
      return found === undefined ? undefined : [found];
    },
  };
}

/** Reads one of several words and a value, separated by a space: two words on the command line. */
export function wordAnd(list: string, kind: Kind, repeats = 1): Kind {
  const first = word(list);
  return {
    rule: `${first.rule}, then ${kind.rule}`,
    words: 'two',
    maxLength: 100 + (kind.maxLength ?? 100),
    parse: (text) => {
      const [name = '', value] = text.trim().split(/[ +]([\s\S]*)/, 2);
      const [base = '', count] = name.split(/:(?=\d{1,2}$)/);
      const [found] = first.parse(base) ?? [];
      const rest = value === undefined ? undefined : kind.parse(value);
      if (!found || !rest || Number(count ?? 1) > repeats) return undefined;
      return [count === undefined ? found : `${found}:${count}`, ...rest];
    },
  };
}

/** Reads a list of numbers for a filter or a transformation. */
export function series(example: string, { count = 400, max = 100_000 } = {}): Kind {
  const pattern = new RegExp(`^${NUMBER}(?:[,: ]+${NUMBER})*$`);
  return {
    rule: `up to ${count} numbers, such as ${example}`,
    maxLength: 4000,
    parse: (value) => {
      const found = numbersIn(value);
      const valid = pattern.test(value) && found.length <= count;
      return valid && found.every((each) => each <= max) ? [value] : undefined;
    },
  };
}

/**
 * Reads words of ASCII letters, digits and a few symbols, such as the name of a kernel. None can name a file or a
 * property.
 */
export function symbols(example: string, pattern: RegExp): Kind {
  return {
    rule: `text such as ${example}`,
    maxLength: 500,
    parse: (value) => (/^[\w ,.:;<=>x+#'()-]+$/.test(value) && pattern.test(value) ? [value] : undefined),
  };
}

/** Maximum length of a color. The names of all colors, and their numbers in parentheses, are shorter. */
const COLOR_LENGTH = 100;

/** One color or more, up to `count`, separated by a comma or a hyphen. */
export function colors(separator: ',' | '-', count: number): Kind {
  return {
    rule: `up to ${count} colors, such as ${['black', 'white'].slice(0, count).join(separator)}`,
    // The pattern searches the rest of the value for parentheses at each comma.
    maxLength: COLOR_LENGTH * count,
    parse: (value) => {
      const parts = value.split(separator === ',' ? /,(?![^(]*\))/ : separator);
      const valid = parts.length >= 1 && parts.length <= count && parts.every((part) => parseColor(part));
      return valid ? [parts.map(hashed).join(separator)] : undefined;
    },
  };
}

/** Reads the URL of another image. With `optional`, an empty value is allowed. */
export function imageUrl({ optional = false } = {}): Kind {
  return {
    rule: `${optional ? 'empty, or ' : ''}${URL_RULE}`,
    namesSource: true,
    ...(optional && { words: 'optional' }),
    parse: (value) => {
      if (value === '' && optional) return [];
      const url = readUrlOrFile(value);
      return url === undefined ? undefined : [url];
    },
  };
}

const TEXT_LENGTH = 2000;
const ANNOTATION = /^(?:(\d{1,3})(?:x\d{1,3})?)?([+\- ]\d{1,5})([+\- ]\d{1,5})[\s,]+(\S[\s\S]*)$/;

/**
 * Reads `+10+20 Hello`, `45x45+10+20 Hello`, `0 Hello` or plain text into degrees, x and y (empty if not given) and
 * the text.
 */
export const annotation: Kind = {
  rule: `text of 1 to ${TEXT_LENGTH} characters, such as +10+20 Hello or Hello`,
  words: 'two',
  maxLength: 2 * TEXT_LENGTH,
  parse: (value) => {
    const match = ANNOTATION.exec(value);
    const bare = /^0(?:x0)?\s+(\S[\s\S]*)$/.exec(value);
    const text = (match?.[4] ?? bare?.[1] ?? value).replaceAll('\\n', '\n').replaceAll('\\\\', '\\');
    const printable = text.replace(/\n/g, '');
    if (text.trim() === '' || text.length > TEXT_LENGTH || /[\p{Cc}\p{Cs}\ufffe\uffff]/u.test(printable)) {
      return undefined;
    }
    const origin = bare ? '0' : '';
    const [x = origin, y = origin] = match ? [withPlus(match[2]!), withPlus(match[3]!)] : [];
    return [match?.[1] ?? '0', x, y, text];
  },
};

const PRIMITIVE = '(?:point|line|rectangle|roundrectangle|arc|ellipse|circle|polyline|polygon|bezier)';
const STEP = `(?:${PRIMITIVE}(?:[ ,]+${NUMBER})+|path +'[MLHVCSQTAZmlhvcsqtaz0-9., +-]+')`;

/** Reads shapes in ImageMagick's drawing language, except those that name images, fonts, patterns or settings. */
export const shapes: Kind = {
  rule: "shapes with their coordinates, such as circle 50,50 80,50 or path 'M 0,0 L 9,9 Z'",
  maxLength: 4000,
  parse: (value) => {
    const valid = new RegExp(`^${STEP}(?:[ ;]+${STEP})*$`).test(value);
    return valid && !value.includes('%') && numbersIn(value).every((each) => each <= 100_000)
      ? [value]
      : undefined;
  },
};
