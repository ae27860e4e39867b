/** Markup of a line by the side of an area; `horizontal` and `vertical` lines are between its cells. */
type Lines = Readonly<Record<string, string>>;

/** The format of an element of a table style, as markup of a differential format. */
export interface Format {
  /** Switches of the text, such as `<b/>`. */
  readonly text: string;
  /** Attributes of the color of the text, such as `theme="1"`. */
  readonly color: string;
  readonly fill: string;
  readonly lines: Lines;
}

/** Formats by the name of the element in Excel, such as `headerRow`. */
export type Style = Readonly<Record<string, Format>>;

/**
 * Excel's built-in styles: kind, first and last number, and the formats of the whole table, of its header, its total, its first and
 * last column and its stripes. In a format, `b` is bold, `c` the color of the text, `f` a fill, and the others are lines; `inner` is
 * the line beside the other columns. Colors are numbers of theme colors with a tint in percent. `A` is the color of the style, and
 * `B` the one after it.
 */
const FAMILIES = `
Light 1 7|c=A-25 top=thin:A bottom=thin:A|b c=A-25 bottom=thin:A|b c=A-25 top=thin:A|b c=A-25|f=A+80
Light 8 14|c=1 around=thin:A|b c=0 f=A|b c=1 top=double:A|b c=1|start=thin:A
Light 15 21|c=1 around=thin:A within=thin:A|b c=1 bottom=medium:A|b c=1 top=double:A|b c=1|f=A+80
Medium 1 7|c=1 around=thin:A+40 horizontal=thin:A+40|b c=0 f=A|b c=1 top=double:A|b c=1|f=A+80
Medium 8 14|c=1 f=A+80 within=thin:0|b c=0 f=A bottom=thick:0|b c=0 f=A top=thick:0|b c=0 f=A|f=A+60
Medium 15 15|c=1 around=thin:1 within=thin:1 across=medium:1|b c=0 f=A bottom=medium:1|top=double:1|b c=0 f=A|f=0-15
Medium 16 21|c=1 across=medium:1|b c=0 f=A bottom=medium:1|top=double:1|b c=0 f=A|f=0-15
Medium 22 28|c=1 f=A+80 around=thin:A+40 within=thin:A+40|b c=1|b c=1 top=medium:A|b c=1|f=A+60
Dark 1 1|c=0 f=1+45|b c=0 f=1 bottom=medium:0|b c=0 f=1+15 top=medium:0|b c=0 f=1+25 inner=medium:0|f=1+25
Dark 2 7|c=0 f=A|b c=0 f=1 bottom=medium:0|b c=0 f=A-50 top=medium:0|b c=0 f=A-25 inner=medium:0|f=A-25
Dark 8 11|f=A+80|c=0 f=B|b c=1 top=double:1|b c=1|f=A+60`
  .trim()
  .split('\n')
  .map((row) => row.split('|'));
/** Names of several lines. */
const SIDES: Readonly<Record<string, string>> = {
  around: 'left right top bottom',
  across: 'top bottom',
  within: 'horizontal vertical',
};
/** The first style of each seven is black. It is gray where the others have a tint of their color. */
const BLACK: Readonly<Record<string, string>> = { 'A+80': '0-15', 'A+60': '0-35' };

/** Returns a built-in style; `undefined` if there is none with the name. */
export function builtInStyle(name: string): Style | undefined {
  const [, kind, number = 0] = /^TableStyle(Light|Medium|Dark)(\d+)$/.exec(name) ?? [];
  const family = FAMILIES.find(([key = '']) => {
    const [own, first, last] = key.split(' ');
    return own === kind && Number(number) >= Number(first) && Number(number) <= Number(last);
  });
  if (!family) return undefined;
  const [key, whole = '', header = '', total = '', side = '', stripe = ''] = family;
  // Accents have the numbers from 4. Each of the last dark styles has two of them.
  const index = key === 'Dark 8 11' ? (Number(number) - 8) * 2 - 1 : (Number(number) - 1) % 7;
  const read = (text: string) => readFormat(text, index > 0 ? index + 3 : undefined);
  const [row, column] = ['top', 'left'].map((start) => read(stripe.replace('start', start)));
  const isEach = stripe.startsWith('start');
  return {
    wholeTable: read(whole),
    headerRow: read(header),
    totalRow: read(total),
    firstColumn: read(side.replace('inner', 'right')),
    lastColumn: read(side.replace('inner', 'left')),
    firstRowStripe: row!,
    firstColumnStripe: column!,
    ...(isEach && { secondRowStripe: row!, secondColumnStripe: column! }),
  };
}

function readFormat(text: string, accent: number | undefined): Format {
  const values = Object.fromEntries(text.split(' ').map((part) => part.split('=')));
  const { b, c = '', f = '', ...rest } = values;
  const lines = Object.entries<string>(rest).flatMap(([names, value]) => {
    const [style, color = ''] = value.split(':');
    const line = `style="${style}"><color ${readColor(color, accent)}/>`;
    return (SIDES[names] ?? names).split(' ').map((side) => [side, line]);
  });
  return {
    text: 'b' in values ? '<b/>' : '',
    color: readColor(c, accent),
    fill: readColor(f, accent),
    lines: Object.fromEntries(lines),
  };
}

function readColor(text: string, accent: number | undefined): string {
  const colored = text.replace('A', `${accent}`).replace('B', `${Number(accent) + 1}`);
  const known = accent ? colored : (BLACK[text] ?? text.replace(/^[AB].*/, '1'));
  const [theme, tint] = known.split(/(?=[+-])/);
  return theme ? `theme="${theme}"${tint ? ` tint="${Number(tint) / 100}"` : ''}` : '';
}
