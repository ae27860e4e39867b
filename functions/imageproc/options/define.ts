import { option, readSwitch, SWITCH_RULE } from '../../shared/options/option.ts';
import { formatDefinedBy } from '../formats.ts';
import { amount, type Kind, numbers, symbols, word } from './values.ts';

/** One `-define`: a key of the list below and its checked value. */
interface Define {
  readonly key: DefineKey;
  readonly value: string;
}

type DefineKey = keyof typeof DEFINES;

const onOff: Kind = {
  rule: SWITCH_RULE,
  parse: (value) => {
    const isOn = readSwitch(value);
    return isOn === undefined ? undefined : [String(isOn)];
  },
};
const upTo = (max: number, min = 0) => amount(String(min), { min, max });
/** Reads a whole number. */
const wholeUpTo = (max: number, min = 0): Kind => ({
  rule: `an integer from ${min} to ${max}`,
  parse: (value) => (/^\d{1,5}$/.test(value) && +value >= min && +value <= max ? [value] : undefined),
});
/** Reads a size such as `100kb`, `1.5MB` or `64000`, in bytes. */
const bytes: Kind = {
  rule: 'a size such as 100kb',
  parse: (text) => {
    const match = /^(\d{1,9}(?:\.\d+)?)\s*(k|m)?(i)?b?$/.exec(text);
    if (!match) return undefined;
    const step = match[3] ? 1024 : 1000;
    const size = Number(match[1]) * (match[2] === 'k' ? step : match[2] === 'm' ? step ** 2 : 1);
    return size >= 1 ? [String(Math.floor(size))] : undefined;
  },
};
/** Reads a chroma subsampling in either notation. */
export const sampling: Kind = {
  rule: '4:4:4, 4:2:2, 4:4:0 or 4:2:0, or 1x1, 2x1, 1x2 or 2x2',
  parse: (text) => {
    const first = text.split(',')[0]!.toLowerCase();
    const found = SAMPLINGS.find((names) => names.includes(first))?.[0];
    return found === undefined ? undefined : [found];
  },
};
const SAMPLINGS = [
  ['4:4:4', '1x1'],
  ['4:2:2', '2x1'],
  ['4:4:0', '1x2'],
  ['4:2:0', '2x2'],
];

/**
 * The definitions that have an effect. Others are ignored, because they could reach untested parts of ImageMagick.
 */
const DEFINES = {
  'jpeg:extent': bytes,
  'jpeg:sampling-factor': sampling,
  'jpeg:optimize-coding': onOff,
  'jpeg:arithmetic-coding': onOff,
  'jpeg:dct-method': word('islow ifast float'),
  'webp:lossless': onOff,
  'webp:near-lossless': wholeUpTo(100),
  'webp:method': wholeUpTo(6),
  'webp:alpha-quality': wholeUpTo(100),
  'webp:target-size': bytes,
  'webp:target-psnr': upTo(100),
  'webp:filter-strength': wholeUpTo(100),
  'webp:sns-strength': wholeUpTo(100),
  'webp:segments': wholeUpTo(4, 1),
  'webp:image-hint': word('default photo picture graph'),
  'webp:exact': onOff,
  'png:color-type': wholeUpTo(6),
  'png:bit-depth': wholeUpTo(16, 1),
  'png:format': word('png8 png24 png32 png48 png64 png00'),
  'png:compression-level': wholeUpTo(9),
  'png:compression-filter': wholeUpTo(5),
  'png:compression-strategy': wholeUpTo(4),
  'tiff:predictor': wholeUpTo(3, 1),
  'tiff:rows-per-strip': wholeUpTo(65_535, 1),
  'tiff:alpha': word('associated unassociated unspecified'),
  'tiff:endian': word('msb lsb'),
  'tiff:fill-order': word('msb lsb'),
  'tiff:tile-geometry': numbers('256x256', { count: 2, max: 4096 }),
  'heic:speed': wholeUpTo(9),
  'heic:lossless': onOff,
  'compose:args': numbers('50x50', { max: 1000 }),
  'compose:clip-to-self': onOff,
  'convolve:bias': upTo(100),
  'convolve:scale': symbols('50%!', /^[\d.,]+!?$/),
  'distort:viewport': numbers('100x100+10+10', { max: 16_384 }),
  'distort:scale': upTo(10),
  'dither:diffusion-amount': upTo(100),
  'filter:blur': upTo(10),
  'filter:lobes': wholeUpTo(10, 1),
  'filter:sigma': upTo(10),
  'filter:support': upTo(10),
  'filter:b': upTo(10),
  'filter:c': upTo(10),
  'modulate:colorspace': word('HCL HCLp HSB HSI HSL HSV HWB LCH LCHab LCHuv'),
  'morphology:compose': word('None Lighten Darken Plus Multiply Screen'),
  'shepards:power': upTo(10),
  'trim:edges': symbols('north,south', /^(north|south|east|west)(,(north|south|east|west))*$/),
} as const satisfies Readonly<Record<string, Kind>>;

/** Reads a definition such as `jpeg:extent=100kb`. */
export function define(name: string, options: { description: string }) {
  const parse = (text: string): Define | undefined => {
    const at = text.indexOf('=');
    const key = keyOf(text);
    if (!isDefineKey(key)) return undefined;
    const kind: Kind = DEFINES[key];
    const [value] = kind.parse(at < 0 ? '' : text.slice(at + 1).toLowerCase()) ?? [];
    return value === undefined ? undefined : { key, value };
  };
  return option(name, 'a key and a value such as jpeg:extent=100kb', parse, {
    description: `${options.description}: ${Object.keys(DEFINES).join(', ')}. Others are ignored`,
    ignores: (text, format) => {
      const key = keyOf(text);
      if (!isDefineKey(key)) return /^[a-z\d]+:[a-z\d-]+(=|$)/i.test(text);
      const encodes = formatDefinedBy(key.split(':')[0]!);
      const isOther = format !== undefined && encodes !== undefined && encodes !== format;
      return isOther && parse(text) !== undefined;
    },
  });
}

function keyOf(text: string): string {
  return text.split('=')[0]!.toLowerCase().replace('avif:', 'heic:');
}

/** Returns the last value that was given for a key. */
export function defined(defines: readonly Define[], key: DefineKey): string | undefined {
  return defines.findLast((define) => define.key === key)?.value;
}

function isDefineKey(key: string): key is DefineKey {
  return Object.hasOwn(DEFINES, key);
}
