import { parameter } from '../shared/options/parameters.ts';

/** `WxH±x±y`: sides in pixels or percent of the image; a missing or zero side is the image's own. */
export interface Region {
  readonly width: number;
  readonly height: number;
  readonly percent: boolean;
  readonly x: number;
  readonly y: number;
}

/** `WxH`: pixels or percent of the image, for both edges of an axis. */
export interface Edges {
  readonly x: number;
  readonly y: number;
  readonly percent: boolean;
}

/** How far and how softly a filter reaches, in pixels, and for `-unsharp` how much and from what difference on. */
export interface Softness {
  readonly sigma: number;
  readonly gain: number;
  readonly threshold: number;
}

/** Degrees clockwise; `only` turns wider or taller images alone. */
export interface Turn {
  readonly degrees: number;
  readonly only?: 'wide' | 'tall';
}

interface Meaning {
  readonly meaning: string;
}

const SIDE = 16_384;

/** A region such as `300x200+10+20`; a plus that the query turned into a space is read as a plus. */
export function region(name: string, options: Meaning) {
  const parse = (value: string): Region | undefined => {
    const match =
      /^(\d{1,5}(?:\.\d+)?%?)?(?:x(\d{1,5}(?:\.\d+)?%?)?)?([+\- ]\d{1,5})?([+\- ]\d{1,5})?!?$/i.exec(value);
    if (!match || value === '' || value === '!') return undefined;
    const percent = value.includes('%');
    const sides = value.toLowerCase().includes('x') ? [match[1], match[2]] : [match[1], match[1]];
    const [width, height] = sides.map((side) => Number.parseFloat(side ?? '0')) as [number, number];
    if (Math.max(width, height) > SIDE) return undefined;
    return { width, height, percent, x: offset(match[3]), y: offset(match[4]) };
  };
  return parameter(name, 'a region like 300x200+10+20, sides 1 to 16384 or percent', parse, options);
}

function offset(text = '0'): number {
  return Number(text.replace(' ', '+'));
}

/** Two edges such as `10x20`, `10` or `5%`. */
export function edges(name: string, options: Meaning) {
  const parse = (value: string): Edges | undefined => {
    const match = /^(\d{1,5}(?:\.\d+)?)%?(?:x(\d{1,5}(?:\.\d+)?)%?)?$/i.exec(value);
    const x = Number(match?.[1]);
    const y = match?.[2] === undefined ? x : Number(match[2]);
    return x <= SIDE && y <= SIDE ? { x, y, percent: value.includes('%') } : undefined;
  };
  return parameter(name, 'edges like 10x20, 10 or 5%, at most 16384', parse, options);
}

/** A radius, which we ignore as ImageMagick's 0 does, and a sigma: `0x2`; for `-unsharp` also `+gain+threshold`. */
export function softness(name: string | readonly string[], options: Meaning) {
  const pattern =
    /^(\d{1,3}(?:\.\d+)?)(?:x(\d{1,3}(?:\.\d+)?))?(?:[+ ](\d{1,2}(?:\.\d+)?))?(?:[+ ](\d(?:\.\d+)?))?%?$/i;
  const parse = (value: string): Softness | undefined => {
    const match = pattern.exec(value);
    const sigma = Number(match?.[2] ?? 1);
    if (!match || sigma > 100) return undefined;
    return { sigma, gain: Number(match[3] ?? 1), threshold: Number(match[4] ?? 0.05) };
  };
  return parameter(name, 'a radius and a sigma up to 100, like 0x2', parse, options);
}

/** Degrees, with `>` only for images wider than tall, with `<` only for taller ones. */
export function turn(name: string, options: Meaning) {
  const parse = (value: string): Turn | undefined => {
    const match = /^([+\- ]?\d{1,4}(?:\.\d{1,4})?)([<>])?$/.exec(value);
    if (!match) return undefined;
    const degrees = Number(match[1]!.replace(' ', '+'));
    return match[2] ? { degrees, only: match[2] === '>' ? 'wide' : 'tall' } : { degrees };
  };
  return parameter(
    name,
    'degrees from -9999 to 9999, with > or < for wide or tall images only',
    parse,
    options,
  );
}

/** Part of the full brightness, 0 to 1: a percentage, or a number up to 65535 as ImageMagick counts. */
export function brightness<Default extends number | undefined = undefined>(
  name: string,
  options: Meaning & { readonly default?: Default },
) {
  const parse = (value: string) => {
    const match = /^(\d{1,5}(?:\.\d+)?)(%)?$/.exec(value);
    const part = Number(match?.[1]) / (match?.[2] ? 100 : 65_535);
    return part >= 0 && part <= 1 ? part : undefined;
  };
  return parameter(name, 'a percentage from 0% to 100%, or a number from 0 to 65535', parse, options);
}

/** Percentages in a row, such as `110,80,100` or `10x-5`; missing ones take their default. */
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
  return parameter(name, `up to ${defaults.length} percentages from ${min} to ${max}`, parse, options);
}

/** A CSS colour: a name, `none`, `#rgb`, `#rrggbb`, `#rrggbbaa`, `rgb(…)`, `rgba(…)`. */
export function colour<Default extends string | undefined = undefined>(
  name: string,
  options: Meaning & { readonly default?: Default },
) {
  const hex = /^#([\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/i;
  const channels = /^rgba?\(\s*\d{1,3}%?(\s*,\s*\d{1,3}%?){2}(\s*,\s*[\d.]{1,5}%?)?\s*\)$/i;
  const parse = (value: string) => {
    // A `#` that nobody encoded never arrives, so the bare digits are taken as well.
    const text = /^([\da-f]{6}|[\da-f]{8})$/i.test(value) ? `#${value}` : value.toLowerCase();
    if (text === 'none' || text === 'transparent') return '#00000000';
    return hex.test(text) || channels.test(text) || NAMES.has(text) ? text : undefined;
  };
  return parameter(name, 'a colour like white, none, #ff8000 or rgb(255,128,0)', parse, options);
}

const NAMES = new Set(
  `aliceblue antiquewhite aqua aquamarine azure beige bisque black blanchedalmond blue blueviolet brown burlywood
  cadetblue chartreuse chocolate coral cornflowerblue cornsilk crimson cyan darkblue darkcyan darkgoldenrod darkgray
  darkgreen darkgrey darkkhaki darkmagenta darkolivegreen darkorange darkorchid darkred darksalmon darkseagreen
  darkslateblue darkslategray darkslategrey darkturquoise darkviolet deeppink deepskyblue dimgray dimgrey dodgerblue
  firebrick floralwhite forestgreen fuchsia gainsboro ghostwhite gold goldenrod gray green greenyellow grey honeydew
  hotpink indianred indigo ivory khaki lavender lavenderblush lawngreen lemonchiffon lightblue lightcoral lightcyan
  lightgoldenrodyellow lightgray lightgreen lightgrey lightpink lightsalmon lightseagreen lightskyblue lightslategray
  lightslategrey lightsteelblue lightyellow lime limegreen linen magenta maroon mediumaquamarine mediumblue
  mediumorchid mediumpurple mediumseagreen mediumslateblue mediumspringgreen mediumturquoise mediumvioletred
  midnightblue mintcream mistyrose moccasin navajowhite navy oldlace olive olivedrab orange orangered orchid
  palegoldenrod palegreen paleturquoise palevioletred papayawhip peachpuff peru pink plum powderblue purple red
  rosybrown royalblue saddlebrown salmon sandybrown seagreen seashell sienna silver skyblue slateblue slategray
  slategrey snow springgreen steelblue tan teal thistle tomato turquoise violet wheat white whitesmoke yellow
  yellowgreen`.split(/\s+/),
);
