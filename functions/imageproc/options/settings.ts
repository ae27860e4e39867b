import { option, readSwitch } from '../../shared/options/option.ts';
import { fontName } from './font.ts';
import { amount, brightness, color, type Kind, word } from './values.ts';
import { BLEND_MODES } from './words.ts';

const GRAVITIES = 'NorthWest North NorthEast West Center East SouthWest South SouthEast Attention Entropy';
const GRAVITY =
  'where `-crop`, `-extent`, `-annotate`, `-composite` and `-append` align; `Attention` and `Entropy` find the interesting part of the image for `-crop` and `-extent`';

/** Reads `WxH+x+y`, `50%` or `+10+20`. */
const placement: Kind = {
  rule: 'a size and an offset such as 100x50+10+20, 50% or +10+20',
  parse: (text) => {
    const value = text.replaceAll(' ', '+').replace('\\!', '!');
    const match = /^(?:(\d{1,5})(%)?)?(?:x(\d{1,5})?)?!?([+-]\d{1,5})?([+-]\d{1,5})?$/i.exec(value);
    const sides = [match?.[1], match?.[3]].filter((side) => side !== undefined).map(Number);
    return match && value !== '' && sides.every((side) => side >= 1 && side <= 16_384) ? [value] : undefined;
  },
};

/** Settings of operators. A setting that is given once applies to all operators, wherever it is in the query. */
export const SETTINGS = {
  '-gravity': [word(GRAVITIES), GRAVITY],
  '-background': [color, 'color of new areas and behind transparency, white by default'],
  '-bordercolor': [color, 'color of `-border`, #dfdfdf by default'],
  '-fill': [color, 'color of `-annotate`, `-draw`, `-tint` and others, black by default'],
  '-stroke': [color, 'outline color of `-annotate` and `-draw`, none by default'],
  '-strokewidth': [amount('2'), 'outline width in pixels, 1 by default'],
  '-font': [fontName, 'font of `-annotate`, Helvetica by default'],
  '-pointsize': [amount('24', { min: 1, max: 2000 }), 'font size in pixels, 12 by default'],
  '-geometry': [placement, 'size and offset of the image that `-composite` draws'],
  '-compose': [word(BLEND_MODES), 'blend mode of `-composite`, Over by default'],
  '-dissolve': [amount('50'), 'opacity of `-composite` in percent, 100 by default'],
  '-fuzz': [brightness, 'how much colors may differ for `-trim`, `-transparent` and others, 0 by default'],
} as const satisfies Readonly<Record<string, readonly [kind: Kind, description: string]>>;

const DITHERS = word('FloydSteinberg Riemersma None');

/** Reads `-dither` with or without a method, and `+dither`, into ImageMagick's words. */
export const dither = option(
  ['-dither', '+dither'],
  `${DITHERS.rule}, on, off`,
  (value, name): readonly string[] | undefined => {
    const isInverted = name === '+dither';
    const [method] = isInverted ? [] : (DITHERS.parse(value) ?? []);
    const isOn = method === undefined ? readSwitch(value) : method !== 'None';
    if (isOn === undefined) return undefined;
    return isOn === isInverted ? ['+dither'] : ['-dither', method ?? 'FloydSteinberg'];
  },
  {
    description:
      'dithering of `-colors`, `-posterize` and GIF output, Riemersma by default; `-dither` alone selects FloydSteinberg, `+dither` turns it off',
    words: 'optional',
    schema: { type: ['string', 'boolean'] },
  },
);
