import cssColor from '@img/colour';

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
