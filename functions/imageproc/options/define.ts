import { parameter } from '../../shared/options/parameters.ts';

/** One `-define`: a key of the list below and its checked value. */
export type Define = {
  readonly [Key in DefineKey]: { readonly key: Key; readonly value: DefineValue<Key> };
}[DefineKey];

export type DefineKey = keyof typeof DEFINES;
export type DefineValue<Key extends DefineKey> = NonNullable<ReturnType<(typeof DEFINES)[Key]>>;

/** The definitions that are supported. Anything else could reach untested parts of the encoders. */
const DEFINES = {
  'jpeg:extent': bytes,
  'jpeg:sampling-factor': sampling,
  'jpeg:optimize-coding': onOff,
  'webp:lossless': onOff,
  'webp:near-lossless': integer(0, 100),
  'webp:method': integer(0, 6),
  'webp:alpha-quality': integer(0, 100),
  'webp:target-size': bytes,
  'png:color-type': integer(0, 6),
  'png:bit-depth': integer(1, 16),
  'png:format': word('png8', 'png24', 'png32', 'png48', 'png64'),
  'png:compression-level': integer(0, 9),
  'png:compression-filter': integer(0, 5),
  'tiff:predictor': integer(1, 2),
  'heic:speed': integer(0, 9),
  'heic:lossless': onOff,
} as const;

/** Reads a definition such as `jpeg:extent=100kb`. */
export function define(name: string, options: { meaning: string }) {
  const parse = (text: string): Define | undefined => {
    const at = text.indexOf('=');
    const key = (at < 0 ? text : text.slice(0, at)).toLowerCase().replace('avif:', 'heic:');
    if (!isDefineKey(key)) return undefined;
    const value = DEFINES[key](at < 0 ? '' : text.slice(at + 1).toLowerCase());
    return value === undefined ? undefined : ({ key, value } as Define);
  };
  return parameter(
    name,
    `one of ${Object.keys(DEFINES).join(', ')} with a value, like jpeg:extent=100kb`,
    parse,
    options,
  );
}

/** Returns the last value that was given for a key. */
export function defined<Key extends DefineKey>(
  defines: readonly Define[],
  key: Key,
): DefineValue<Key> | undefined {
  return defines.findLast((define) => define.key === key)?.value as DefineValue<Key> | undefined;
}

function isDefineKey(key: string): key is DefineKey {
  return Object.hasOwn(DEFINES, key);
}

function integer(min: number, max: number) {
  return (text: string): number | undefined => {
    const value = /^\d{1,3}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  };
}

function word<const Word extends string>(...words: readonly Word[]) {
  return (text: string): Word | undefined => words.find((each) => each === text);
}

function onOff(text: string): boolean | undefined {
  if (/^(|true|1|on|yes)$/.test(text)) return true;
  return /^(false|0|off|no)$/.test(text) ? false : undefined;
}

/** A size such as `100kb`, `1.5MB` or `64000`, in bytes. */
function bytes(text: string): number | undefined {
  const match = /^(\d{1,9}(?:\.\d+)?)\s*(k|m)?(i)?b?$/.exec(text);
  if (!match) return undefined;
  const step = match[3] ? 1024 : 1000;
  const size = Number(match[1]) * (match[2] === 'k' ? step : match[2] === 'm' ? step ** 2 : 1);
  return size >= 1 ? Math.floor(size) : undefined;
}

function sampling(text: string): Sampling | undefined {
  return parseSampling(text);
}

export type Sampling = '4:4:4' | '4:2:0';

/** Parses a chroma subsampling in either notation. 4:2:2 and 4:4:0 are not supported by the encoder. */
export function parseSampling(text: string): Sampling | undefined {
  const first = text.split(',')[0]!.toLowerCase();
  if (/^(4:4:4|1x1)$/.test(first)) return '4:4:4';
  return /^(4:2:0|2x2)$/.test(first) ? '4:2:0' : undefined;
}
