import { parameter } from '../../shared/options/parameters.ts';

/** `WxH±x±y` in pixels or percent of the image, or a ratio `W:H`; a missing or zero side is the image's own. */
export interface Region {
  readonly width: number;
  readonly height: number;
  readonly unit: 'pixels' | 'percent' | 'ratio';
  readonly x: number;
  readonly y: number;
}

/** `WxH`, pixels or percent of the image, for both edges of an axis. */
export interface Edges {
  readonly x: number;
  readonly y: number;
  readonly percent: boolean;
}

/** Reach of a filter in pixels. `gain` and `threshold` are for `-unsharp`. */
export interface Softness {
  readonly sigma: number;
  readonly gain: number;
  readonly threshold: number;
}

/** Degrees clockwise; with `only`, for images that are wider or taller. */
export interface Turn {
  readonly degrees: number;
  readonly only?: 'wide' | 'tall';
}

/** Black and white point from 0 to 1, and gamma. */
export interface Levels {
  readonly black: number;
  readonly white: number;
  readonly gamma: number;
}

interface Meaning {
  readonly meaning: string;
}

const MAX_SIDE = 16_384;
const OFFSET = '([+\\- ]\\d{1,5})';
const REGION = new RegExp(
  `^(\\d{1,5}(?:\\.\\d+)?%?)?(?:([x:])(\\d{1,5}(?:\\.\\d+)?%?)?)?${OFFSET}?${OFFSET}?[!^<>]?$`,
  'i',
);

/** Reads a region such as `300x200+10+20`. A plus that the query string turned into a space counts as a plus. */
export function region(name: string, options: Meaning) {
  const parse = (value: string): Region | undefined => {
    const match = REGION.exec(value.replaceAll('×', 'x'));
    if (!match || /^[!^<>]?$/.test(value)) return undefined;
    const [, first, separator, second, x, y] = match;
    const sides = separator ? [first, second] : [first, first];
    const [width, height] = sides.map((side) => Number.parseFloat(side ?? '0')) as [number, number];
    const ratio = separator === ':';
    if (Math.max(width, height) > MAX_SIDE || (ratio && !(width > 0 && height > 0))) return undefined;
    const unit = ratio ? 'ratio' : value.includes('%') ? 'percent' : 'pixels';
    return { width, height, unit, x: offset(x), y: offset(y) };
  };
  const rule = `a region like 300x200+10+20, 50%x50% or 16:9, with sides up to ${MAX_SIDE}`;
  return parameter(name, rule, parse, options);
}

/** Parses `+10` or `-5`. */
export function offset(text = '0'): number {
  return Number(text.replace(' ', '+'));
}

/** Reads two edges such as `10x20`, `10` or `5%`. */
export function edges(name: string, options: Meaning) {
  const parse = (value: string): Edges | undefined => {
    const match = /^(\d{1,5}(?:\.\d+)?)%?(?:[x,](\d{1,5}(?:\.\d+)?)%?)?$/i.exec(value);
    const x = Number(match?.[1]);
    const y = match?.[2] === undefined ? x : Number(match[2]);
    return x <= MAX_SIDE && y <= MAX_SIDE ? { x, y, percent: value.includes('%') } : undefined;
  };
  return parameter(name, `lengths like 10x20, 10 or 5%, up to ${MAX_SIDE}`, parse, options);
}

/** Reads a radius and a sigma, `0x2`, for `-unsharp` with `+gain+threshold`. The radius follows from the sigma. */
export function softness(name: string | readonly string[], options: Meaning) {
  const number = '(\\d{1,3}(?:\\.\\d+)?|\\.\\d+)';
  const pattern = new RegExp(`^${number}(?:x${number})?(?:[+ ]${number})?(?:[+ ]${number})?%?$`, 'i');
  const parse = (value: string): Softness | undefined => {
    const match = pattern.exec(value);
    const sigma = Number(match?.[2] ?? 1);
    if (!match || sigma > 100) return undefined;
    return { sigma, gain: Number(match[3] ?? 1), threshold: Number(match[4] ?? 0.05) };
  };
  return parameter(name, 'a radius and a sigma up to 100, like 0x2', parse, options);
}

/** Reads degrees, with `>` for images that are wider than tall, with `<` for taller ones. */
export function turn(name: string, options: Meaning) {
  const parse = (value: string): Turn | undefined => {
    const match = /^([+\- ]?\d{1,4}(?:\.\d{1,4})?)([<>])?$/.exec(value);
    if (!match) return undefined;
    const degrees = offset(match[1]);
    return match[2] ? { degrees, only: match[2] === '>' ? 'wide' : 'tall' } : { degrees };
  };
  const rule = 'degrees from -9999 to 9999, with > or < for wide or tall images only';
  return parameter(name, rule, parse, options);
}

/** Parses a share of full brightness: a percentage, or a number up to 65535 as in ImageMagick. */
function parseBrightness(value: string): number | undefined {
  const match = /^(\d{1,5}(?:\.\d+)?|\.\d+)(%)?$/.exec(value);
  const share = Number(match?.[1] ?? Number.NaN) / (match?.[2] ? 100 : 65_535);
  return share >= 0 && share <= 1 ? share : undefined;
}

/** Reads a share of full brightness, 0 to 1. */
export function brightness<Default extends number | undefined = undefined>(
  name: string,
  options: Meaning & { readonly default?: Default },
) {
  const rule = 'a percentage from 0% to 100%, or a number from 0 to 65535';
  return parameter(name, rule, parseBrightness, options);
}

/** Reads `black,white,gamma`. Without a white point it lies as far from white as the black point from black. */
export function levels(name: string, options: Meaning) {
  const parse = (value: string): Levels | undefined => {
    const parts = value.split(/[,xX]/);
    // One % sign counts for both points, as in ImageMagick.
    const unit = value.includes('%') ? '%' : '';
    const point = (part: string) => parseBrightness(part.replace('%', '') + unit);
    const black = point(parts[0]!);
    const white = parts[1] === undefined ? 1 - (black ?? 0) : point(parts[1]);
    const gamma = parts[2] === undefined ? 1 : Number(/^\d{0,2}(\.\d+)?$/.exec(parts[2])?.[0] || 'NaN');
    if (parts.length > 3 || black === undefined || white === undefined) return undefined;
    return gamma >= 0.1 && gamma <= 10 ? { black, white, gamma } : undefined;
  };
  const rule = 'a black and a white point and a gamma from 0.1 to 10, like 10%,90%,1.2';
  return parameter(name, rule, parse, options);
}

/** Reads the shares of pixels that become black and white, `2%x1%`, as parts of 1. */
export function stretch(name: string, options: Meaning) {
  const parse = (value: string): readonly [number, number] | undefined => {
    const match = /^(\d{1,3}(?:\.\d+)?|\.\d+)%?(?:[x,](\d{1,3}(?:\.\d+)?|\.\d+)%?)?$/i.exec(value);
    if (!match || !value.includes('%')) return undefined;
    const black = Number(match[1]) / 100;
    const white = match[2] === undefined ? black : Number(match[2]) / 100;
    return black + white < 1 ? [black, white] : undefined;
  };
  return parameter(name, 'percentages of pixels like 2%x1%, less than 100% in total', parse, options);
}

/** Reads percentages such as `110,80,100` or `10x-5`. Missing ones take their default. */
export function percentages<const Defaults extends readonly number[]>(
  name: string,
  options: Meaning & { readonly defaults: Defaults; readonly min: number; readonly max: number },
) {
  const { defaults, min, max } = options;
  const parse = (value: string): { readonly [Index in keyof Defaults]: number } | undefined => {
    const parts = value.split(/[,xX]/);
    if (parts.length > defaults.length || !parts.every((part) => /^[+\- ]?\d{1,4}(\.\d+)?%?$/.test(part))) {
      return undefined;
    }
    const given = parts.map((part) => Number.parseFloat(part.replace(' ', '+')));
    const all = defaults.map((fallback, index) => given[index] ?? fallback);
    return all.every((part) => part >= min && part <= max)
      ? (all as { readonly [Index in keyof Defaults]: number })
      : undefined;
  };
  const rule =
    defaults.length === 1
      ? `a percentage from ${min} to ${max}`
      : `up to ${defaults.length} percentages from ${min} to ${max}`;
  return parameter(name, rule, parse, options);
}

/** Reads a gamma for all channels, `1.2`, or one for each of red, green and blue, `1.2,1,.8`. */
export function gammas(name: string, options: Meaning) {
  const parse = (value: string): readonly [number, number, number] | undefined => {
    const parts = value.split(',');
    const all = parts.map((part) => (/^(\d{1,2}(\.\d*)?|\.\d+)$/.test(part) ? Number(part) : Number.NaN));
    if (!all.every((part) => part >= 0.1 && part <= 10)) return undefined;
    if (all.length === 1) return [all[0]!, all[0]!, all[0]!];
    return all.length === 3 ? (all as [number, number, number]) : undefined;
  };
  return parameter(name, 'a number from 0.1 to 10, or three for red, green and blue', parse, options);
}

/** Pixels per unit of length, for each axis. */
export interface Resolution {
  readonly x: number;
  readonly y: number;
}

/** Reads a resolution such as `300` or `204x98`. */
export function resolution(name: string, options: Meaning) {
  const parse = (value: string): Resolution | undefined => {
    const match = /^(\d{1,4}(?:\.\d+)?)(?:x(\d{1,4}(?:\.\d+)?))?$/i.exec(value);
    const x = Number(match?.[1]);
    const y = Number(match?.[2] ?? x);
    return x >= 1 && y >= 1 ? { x, y } : undefined;
  };
  return parameter(name, 'a number from 1 to 9999, or two like 204x98', parse, options);
}
