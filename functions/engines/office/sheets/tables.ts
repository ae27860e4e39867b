import type { Edit } from '../markup.ts';
import { builtInStyle, type Format, type Style } from './table-styles.ts';

/** Parts that decide how tables look, besides the sheets. */
export const TABLE_PARTS = /^xl\/(tables\/.+\.xml|styles\.xml|worksheets\/_rels\/.+\.rels|theme\/.+\.xml)$/;
const STYLES = 'xl/styles.xml';
/** Start of extensions, which have formats of their own. */
const EXTENSIONS = /<(?:\w+:)?extLst\b/;
/** Maximum rows of a table whose style is drawn. */
const MAX_ROWS = 20_000;
/** Colors of Excel's theme, for workbooks without one. */
const THEME = 'FFFFFF 000000 EEECE1 1F497D 4F81BD C0504D 9BBB59 8064A2 4BACC6 F79646'.split(' ');
/** Colors of text that is black by default. */
const DEFAULT_COLOR = /^(|theme="1"|indexed="64"|auto="1")$/;

/** Rows and columns, from 1. */
interface Range {
  readonly left: number;
  right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Table extends Range {
  readonly style: Style;
  /** First and last row with data. */
  readonly first: number;
  readonly last: number;
  /** Whether a setting, such as `showRowStripes`, is on. */
  readonly shows: (setting: string) => boolean;
}

/**
 * Returns the edits by part that draw the styles of Excel's tables, which LibreOffice ignores: conditional formats for their cells. As
 * in Excel, a cell's own fill, text color and lines win.
 */
export function tableStyleEdits(parts: ReadonlyMap<string, string>): ReadonlyMap<string, Edit[]> {
  const edits = new Map<string, Edit[]>();
  const part = parts.get(STYLES) ?? '';
  const names = [...parts.keys()];
  if (part === '' || !names.some((name) => name.startsWith('xl/tables/'))) return edits;
  const styles = readStyles(part);
  const formats: string[] = [];
  for (const [name, relationships] of parts) {
    const file = name.replace(/^xl\/worksheets\/_rels\/(.+)\.rels$/, 'xl/worksheets/$1');
    const sheet = file === name ? '' : (parts.get(file) ?? '');
    const [, prefix = ''] = /<(\w+:)?tableParts\b/.exec(sheet) ?? [];
    const start = sheet.indexOf(`<${prefix}tableParts`);
    if (start < 0) continue;
    const conditions = [...relationships.matchAll(/\bTarget="[^"]*\btables\/([^"/]+)"/g)]
      .flatMap(([, target]) => readTable(parts.get(`xl/tables/${target}`) ?? '', styles.tables) ?? [])
      .flatMap((table) => [...findAreas(table, readCells(sheet, table, styles.own))])
      .map(([format, areas]) => {
        if (!formats.includes(format)) formats.push(format);
        const rule = `<cfRule type="expression" dxfId="${styles.count + formats.indexOf(format)}" priority="1000000"><formula>1</formula></cfRule>`;
        return `<conditionalFormatting sqref="${areas.map(reference).join(' ')}">${rule}</conditionalFormatting>`;
      });
    edits.set(file, [{ start, end: start, text: withPrefix(conditions.join(''), prefix) }]);
  }
  if (formats.length === 0) return edits;
  const [main = ''] = part.split(EXTENSIONS);
  const place = /<\/(\w+:)?dxfs>/.exec(main) ?? /<\/(\w+:)?styleSheet>/.exec(part);
  if (!place) return new Map();
  const isFirst = !place[0].endsWith('dxfs>');
  const own = isFirst ? `<dxfs>${formats.join('')}</dxfs>` : formats.join('');
  const hasTheme = names.some((name) => name.startsWith('xl/theme/'));
  const colored = hasTheme
    ? own
    : own.replace(/theme="(\d)"/g, (_, color) => `rgb="FF${THEME[Number(color)]}"`);
  const { index } = place;
  return edits.set(STYLES, [{ start: index, end: index, text: withPrefix(colored, place[1] ?? '') }]);
}

const withPrefix = (markup: string, prefix: string) => markup.replace(/<\/?/g, (start) => start + prefix);
const attribute = (markup: string, name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(markup)?.[1];
const colorIn = (markup = '') => /<color\s+([^<>]*?)\s*\/?>/.exec(markup)?.[1] ?? '';

/** Bits for what a cell has itself and the style of its table does not change. */
const [FILL, COLOR, LINES] = [1, 2, 4];

/** Reads the part with the styles of a workbook: what formats of cells have, and differential formats. */
function readStyles(part: string) {
  const text = part.split(EXTENSIONS)[0]!.replace(/(<\/?)\w+:/g, '$1');
  const childrenOf = (list: string, child: string) => {
    const start = text.indexOf(`<${list}`);
    const whole = start < 0 ? '' : text.slice(start, text.indexOf(`</${list}>`, start));
    return whole.split(new RegExp(`<${child}(?=[\\s/>])`)).slice(1);
  };
  const colors = childrenOf('fonts', 'font').map(colorIn);
  const fills = childrenOf('fills', 'fill').map((fill) => /<gradientFill|patternType="(?!none)/.test(fill));
  const borders = childrenOf('borders', 'border').map((border) => /style="(?!none)/.test(border));
  const cells = childrenOf('cellXfs', 'xf').map((cell) =>
    ['fontId', 'fillId', 'borderId'].map((name) => Number(attribute(cell, name) ?? 0)),
  );
  const normal = colors[cells[0]?.[0] ?? 0] ?? '';
  const own = cells.map(([font = 0, fill = 0, border = 0]) => {
    const color = colors[font] ?? '';
    const isNormal = color === normal || (DEFAULT_COLOR.test(color) && DEFAULT_COLOR.test(normal));
    return (fills[fill] ? FILL : 0) | (isNormal ? 0 : COLOR) | (borders[border] ? LINES : 0);
  });
  const formats = childrenOf('dxfs', 'dxf').map(readFormat);
  const tables = childrenOf('tableStyles', 'tableStyle').map((style): [string, Style] => {
    const elements = [...style.matchAll(/<tableStyleElement ([^<>]*)>/g)].flatMap(([, element = '']) => {
      const format = formats[Number(attribute(element, 'dxfId'))];
      return format ? [[attribute(element, 'type')!, format]] : [];
    });
    return [attribute(style, 'name') ?? '', Object.fromEntries(elements)];
  });
  return { own, count: formats.length, tables: new Map(tables) };
}

function readFormat(markup: string): Format {
  const [, font = ''] = /<font>(.*?)<\/font>/s.exec(markup) ?? [];
  const [, fill = ''] = /<bgColor ([^<>]*?)\/?>/.exec(markup) ?? /<fgColor ([^<>]*?)\/?>/.exec(markup) ?? [];
  const [, border = ''] = /<border\b[^<>]*>(.*)<\/border>/s.exec(markup) ?? [];
  const lines = [...border.matchAll(/<(\w+) (style="\w+"><color [^<>]*\/>)/g)];
  return {
    text: (font.match(/<[bi]( val="1")?\/>/g) ?? []).join(''),
    color: colorIn(font),
    fill,
    lines: Object.fromEntries(lines.map(([, side, line]) => [side, line])),
  };
}

function readTable(part: string, own: ReadonlyMap<string, Style>): Table | undefined {
  const [, table = ''] = /<(?:\w+:)?table\b([^<>]*)/.exec(part) ?? [];
  const [, info = ''] = /<(?:\w+:)?tableStyleInfo\b([^<>]*)/.exec(part) ?? [];
  const name = attribute(info, 'name') ?? '';
  const style = own.get(name) ?? builtInStyle(name);
  const [, from = '', top, to = '', bottom] =
    /^([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})$/.exec(attribute(table, 'ref') ?? '') ?? [];
  if (!style || !bottom || Number(bottom) - Number(top) > MAX_ROWS) return undefined;
  return {
    style,
    left: columnOf(from),
    right: columnOf(to),
    top: Number(top),
    bottom: Number(bottom),
    first: Number(top) + Number(attribute(table, 'headerRowCount') ?? 1),
    last: Number(bottom) - Number(attribute(table, 'totalsRowCount') ?? 0),
    shows: (setting) => /^(1|true)$/.test(attribute(info, setting) ?? ''),
  };
}

const A = 'A'.charCodeAt(0);
const columnOf = (letters: string) =>
  [...letters].reduce((column, letter) => column * 26 + letter.charCodeAt(0) - A + 1, 0);
const lettersOf = (column: number): string =>
  column === 0 ? '' : lettersOf(Math.floor((column - 1) / 26)) + String.fromCharCode(A + ((column - 1) % 26));
const reference = ({ left, top, right, bottom }: Range) =>
  `${lettersOf(left)}${top}:${lettersOf(right)}${bottom}`;

/** Returns what cells have themselves, by row and column, and the rows that are hidden. */
function readCells(sheet: string, { top, bottom }: Range, formats: readonly number[]) {
  const own = new Map<string, number>();
  const hidden = new Set<number>();
  let [row, column] = [0, 0];
  for (const [, name, attributes = ''] of sheet.matchAll(/<(?:\w+:)?(c|row)(\s[^<>]*?)?\/?>/g)) {
    // Without a name, a row or cell is the next one.
    const [, letters, digits] = /\sr="([A-Z]*)(\d+)"/.exec(attributes) ?? [];
    row = Number(digits ?? (name === 'row' ? row + 1 : row));
    column = name === 'row' ? 0 : letters ? columnOf(letters) : column + 1;
    if (row < top || row > bottom) continue;
    if (name === 'row' && /\shidden="(1|true)"/.test(attributes)) hidden.add(row);
    const bits = name === 'c' && formats[Number(attribute(attributes, 's') ?? 0)];
    if (bits) own.set(`${row} ${column}`, bits);
  }
  return { own, hidden };
}

/** Returns the areas of a table by the markup of their format. */
function findAreas(table: Table, { own, hidden }: ReturnType<typeof readCells>): Map<string, Range[]> {
  const areas = new Map<string, Range[]>();
  const known = new Map<string, string>();
  let stripe = 0;
  const formatOf = (row: number, column: number) => {
    const layers = layersOf(table, row, column, stripe);
    const bits = own.get(`${row} ${column}`) ?? 0;
    const key = `${layers.join()} ${bits}`;
    const format = known.get(key) ?? markupOf(table.style, layers, bits);
    known.set(key, format);
    return format;
  };
  for (let row = table.top; row <= table.bottom; row += 1) {
    for (let column = table.left; column <= table.right; column += 1) {
      const format = formatOf(row, column);
      const list = areas.get(format) ?? [];
      const before = list.at(-1);
      if (before?.top === row && before.right === column - 1) before.right = column;
      else list.push({ left: column, right: column, top: row, bottom: row });
      areas.set(format, list);
    }
    if (row >= table.first && !hidden.has(row)) stripe += 1;
  }
  areas.delete('');
  return areas;
}

/** An element of a style, and the sides of its area that a cell is on: the first letters of their names. */
type Layer = readonly [element: string, sides: string];

/** Returns the elements of the style that a cell is in. Later ones win. */
function layersOf(table: Table, row: number, column: number, stripe: number): Layer[] {
  const { style, shows, top, bottom, left, right } = table;
  const beside = (column === left ? 'l' : '') + (column === right ? 'r' : '');
  const upright = (row === top ? 't' : '') + (row === bottom ? 'b' : '');
  const isData = row >= table.first && row <= table.last;
  const stripeOf = (index: number) => (index % 2 === 0 ? 'first' : 'second');
  const layers: ReadonlyArray<readonly [boolean, ...Layer]> = [
    [true, 'wholeTable', upright + beside],
    [isData && shows('showColumnStripes'), `${stripeOf(column - left)}ColumnStripe`, `${upright}lr`],
    [isData && shows('showRowStripes'), `${stripeOf(stripe)}RowStripe`, `${beside}tb`],
    [column === right && shows('showLastColumn'), 'lastColumn', `${upright}lr`],
    [column === left && shows('showFirstColumn'), 'firstColumn', `${upright}lr`],
    [row < table.first, 'headerRow', `${beside}tb`],
    [row > table.last, 'totalRow', `${beside}tb`],
  ];
  return layers.flatMap(([isIn, name, sides]): Layer[] => (isIn && style[name] ? [[name, sides]] : []));
}

/** Returns a differential format; empty if the cell keeps its own. */
function markupOf(style: Style, layers: readonly Layer[], own: number): string {
  const formats = layers.map(([name, sides]) => ({ ...style[name]!, sides }));
  const text = [...new Set(formats.map((format) => format.text))].join('');
  const color = own & COLOR ? '' : (formats.findLast((format) => format.color)?.color ?? '');
  const fill = own & FILL ? '' : (formats.findLast((format) => format.fill)?.fill ?? '');
  const lines = ['left', 'right', 'top', 'bottom'].map((side, index) => {
    const between = index < 2 ? 'vertical' : 'horizontal';
    const found = formats.map(({ lines, sides }) => lines[sides.includes(side.charAt(0)) ? side : between]);
    const line = found.findLast((each) => each !== undefined);
    return line && !(own & LINES) ? `<${side} ${line}</${side}>` : '';
  });
  const font = text + (color && `<color ${color}/>`);
  const parts = [
    font && `<font>${font}</font>`,
    fill &&
      `<fill><patternFill patternType="solid"><fgColor ${fill}/><bgColor ${fill}/></patternFill></fill>`,
    lines.join('') && `<border>${lines.join('')}</border>`,
  ].join('');
  return parts && `<dxf>${parts}</dxf>`;
}
