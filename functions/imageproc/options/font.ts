import type { Kind } from './values.ts';

/** A font of the fonts layer, with its height above and depth below the baseline relative to its size. */
export interface Font {
  readonly family: string;
  readonly ascent: number;
  readonly descent: number;
  readonly bold: boolean;
  readonly italic: boolean;
}

/** Font families by their names in ImageMagick. The metrics are those of the fonts' `hhea` tables. */
const FAMILIES = [
  {
    names: ['helvetica', 'arial', 'liberationsans', 'nimbussans', 'sansserif', 'sans'],
    family: 'Liberation Sans',
    ascent: 0.905,
    descent: 0.212,
  },
  {
    names: ['helveticanarrow', 'arialnarrow', 'liberationsansnarrow'],
    family: 'Liberation Sans Narrow',
    ascent: 0.936,
    descent: 0.212,
  },
  {
    names: ['times', 'timesnewroman', 'liberationserif', 'nimbusroman', 'serif'],
    family: 'Liberation Serif',
    ascent: 0.891,
    descent: 0.216,
  },
  {
    names: ['courier', 'couriernew', 'liberationmono', 'monospace', 'mono'],
    family: 'Liberation Mono',
    ascent: 0.833,
    descent: 0.3,
  },
  { names: ['dejavusans', 'verdana', 'tahoma'], family: 'DejaVu Sans', ascent: 0.928, descent: 0.236 },
  { names: ['dejavuserif', 'georgia'], family: 'DejaVu Serif', ascent: 0.939, descent: 0.236 },
  {
    names: ['dejavusansmono', 'consolas', 'menlo'],
    family: 'DejaVu Sans Mono',
    ascent: 0.928,
    descent: 0.236,
  },
  { names: ['carlito', 'calibri'], family: 'Carlito', ascent: 0.952, descent: 0.269 },
  { names: ['caladea', 'cambria'], family: 'Caladea', ascent: 0.9, descent: 0.25 },
] as const;

const RULE =
  'Helvetica, Helvetica-Narrow, Times, Courier, DejaVu-Sans, DejaVu-Serif, DejaVu-Sans-Mono, Carlito or Caladea, optionally with -Bold, -Italic or both';

/** Reads a font name such as `Helvetica-Bold`. Files and URLs are never accepted. */
export const fontName: Kind = { rule: RULE, parse: (value) => (parseFont(value) ? [value] : undefined) };

/** Parses a font name, or returns `undefined`. Case, spaces and hyphens do not matter. */
export function parseFont(value: string): Font | undefined {
  const plain = value.length > 60 ? '' : value.toLowerCase().replace(/[\s_-]/g, '');
  const base = plain.replace(/(bold|italic|oblique|regular|roman|book)+$/, '') || plain;
  const found = FAMILIES.find(({ names }) => names.some((each) => each === base || each === plain));
  if (!found) return undefined;
  const style = plain.slice(base.length);
  const { family, ascent, descent } = found;
  return { family, ascent, descent, bold: style.includes('bold'), italic: /italic|oblique/.test(style) };
}
