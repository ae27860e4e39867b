import { quote } from '../../../shared/quote.ts';
import { boxOf } from './canvas.ts';
import { type FieldValue, fillError } from './form-values.ts';
import { type Dictionary, type Graph, isReference, MAX_DEPTH, textOf, type Value } from './graph.ts';
import { fixed, type Line, type Typesetter } from './typesetter.ts';
import { directionOf } from './visual-runs.ts';

/** Bits of a field's flags (ISO 32000-1, tables 226 to 230). */
const FLAGS = { multiline: 12, password: 13, radio: 15, button: 16, combo: 17, edit: 18, comb: 24 } as const;
/** Attributes that fields inherit. */
const INHERITED = ['/FT', '/Ff', '/DA', '/Q', '/MaxLen', '/Opt', '/V'] as const;
const MAX_FIELDS = 50_000;
/** Distance of text from the edges of its field, and the height of a line relative to the font size. */
const PADDING = 2;
const LEADING = 1.15;
const MAX_AUTO_SIZE = 12;
const MIN_AUTO_SIZE = 4;

/** A field with everything that it inherits. */
interface Field {
  readonly ref: string;
  readonly name: string;
  readonly dict: Dictionary;
  readonly widgets: readonly string[];
}

/** Returns the fields of a document that have values, by full name. */
export function fieldsOf(graph: Graph): Map<string, Field> {
  const fields = new Map<string, Field>();
  const seen = new Set<string>();
  const visit = (ref: Value, parent: string, inherited: Dictionary, depth: number): void => {
    if (!isReference(ref) || seen.has(ref) || depth > MAX_DEPTH || fields.size > MAX_FIELDS) return;
    seen.add(ref);
    const own = graph.dict(ref);
    const passed = Object.fromEntries(
      INHERITED.flatMap((name) => {
        const value = own[name] ?? inherited[name];
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
    const part = textOf(graph.get(own['/T']));
    const name = part === undefined ? parent : parent === '' ? part : `${parent}.${part}`;
    const kids = graph.list(own['/Kids']);
    const isParent = kids.some((kid) => graph.dict(kid)['/T'] !== undefined);
    if (isParent) for (const kid of kids) visit(kid, name, passed, depth + 1);
    else {
      const widgets = kids.length > 0 ? kids.filter(isReference) : [ref];
      if (passed['/FT'] !== undefined) fields.set(name, { ref, name, dict: { ...own, ...passed }, widgets });
    }
  };
  const form = graph.dict(graph.root['/AcroForm']);
  const defaults = form['/DA'] === undefined ? {} : { '/DA': form['/DA'] };
  for (const field of graph.list(form['/Fields'])) visit(field, '', defaults, 0);
  return fields;
}

/** Fills in fields and draws them. @throws ConversionError `BAD_PARAMETER` */
export function fillFields(
  graph: Graph,
  values: ReadonlyMap<string, FieldValue>,
  typesetter: Typesetter,
): void {
  const fields = fieldsOf(graph);
  for (const [name, value] of values) {
    const field = fields.get(name);
    if (!field) {
      const known = [...fields.keys()].slice(0, 20).map(quote).join(', ');
      const has = fields.size === 0 ? 'The PDF has no form fields' : `The fields are ${known}`;
      throw fillError(`names the field ${quote(name)}, which the PDF does not have. ${has}`);
    }
    switch (graph.get(field.dict['/FT'])) {
      case '/Tx':
        fillText(graph, field, textFor(field, value), typesetter);
        break;
      case '/Btn':
        fillButton(graph, field, value);
        break;
      case '/Ch':
        fillChoice(graph, field, value, typesetter);
        break;
      default:
        throw fillError(`names the field ${quote(name)}, which cannot be filled in`);
    }
  }
}

function has(graph: Graph, { dict }: Field, flag: keyof typeof FLAGS): boolean {
  return ((graph.number(dict['/Ff']) >>> FLAGS[flag]) & 1) === 1;
}

function textFor({ name }: Field, value: FieldValue): string {
  if (typeof value === 'string') return value;
  throw fillError(`must contain a text for the field ${quote(name)}`);
}

function fillText(graph: Graph, field: Field, text: string, typesetter: Typesetter): void {
  const max = graph.number(field.dict['/MaxLen'], Number.POSITIVE_INFINITY);
  if ([...text].length > max) {
    throw fillError(`must contain at most ${max} characters for the field ${quote(field.name)}`);
  }
  graph.merge(field.ref, { '/V': `u:${text}`, '/RV': null });
  const lines = has(graph, field, 'multiline')
    ? text.split(/\r\n?|\n/)
    : [text.replace(/\s*[\r\n]+\s*/g, ' ')];
  const shown = has(graph, field, 'password') ? ['*'.repeat([...text].length)] : lines;
  const cells = has(graph, field, 'comb') && Number.isFinite(max) && max > 0 && max <= 1000 ? max : undefined;
  for (const widget of field.widgets) drawText(graph, field, widget, { lines: shown, cells }, typesetter);
}

function fillButton(graph: Graph, field: Field, value: FieldValue): void {
  if (has(graph, field, 'button') || Array.isArray(value)) {
    throw fillError(`names the field ${quote(field.name)}, which cannot be filled in`);
  }
  const statesOf = (widget: string) =>
    Object.keys(graph.dict(graph.dict(graph.dict(widget)['/AP'])['/N'])).filter((state) => state !== '/Off');
  const states = new Set(field.widgets.flatMap(statesOf));
  const options = graph.list(field.dict['/Opt']).map((option) => textOf(graph.get(option)));
  const byOption = typeof value === 'string' ? options.indexOf(value) : -1;
  const isOff = value === false || /^(off|false|no|)$/i.test(String(value));
  const isOn = value === true || /^(on|true|yes)$/i.test(String(value));
  const own = byOption >= 0 ? statesOf(field.widgets[byOption] ?? '')[0] : undefined;
  const state = states.has(`/${String(value)}`)
    ? `/${String(value)}`
    : (own ?? (isOff ? '/Off' : isOn && states.size === 1 ? [...states][0] : undefined));
  if (state === undefined) {
    const known = [...states].map((each) => quote(each.slice(1))).join(', ');
    throw fillError(`must contain one of ${known} or false for the field ${quote(field.name)}`);
  }
  graph.merge(field.ref, { '/V': state });
  for (const widget of field.widgets)
    graph.merge(widget, { '/AS': statesOf(widget).includes(state) ? state : '/Off' });
}

function fillChoice(graph: Graph, field: Field, value: FieldValue, typesetter: Typesetter): void {
  if (typeof value === 'boolean') throw fillError(`must contain a text for the field ${quote(field.name)}`);
  const chosen = [value].flat();
  const options = graph.list(field.dict['/Opt']).map((option) => {
    const pair = graph.list(option);
    const exported = textOf(graph.get(pair.length === 2 ? pair[0] : option)) ?? '';
    return { exported, shown: textOf(graph.get(pair.length === 2 ? pair[1] : option)) ?? exported };
  });
  const isEditable = has(graph, field, 'combo') && has(graph, field, 'edit');
  const picked = chosen.map((text) => {
    const option = options.find(({ exported, shown }) => exported === text || shown === text);
    if (option || isEditable || text === '') return option ?? { exported: text, shown: text };
    const known = options
      .slice(0, 20)
      .map(({ exported }) => quote(exported))
      .join(', ');
    throw fillError(`must contain one of ${known} for the field ${quote(field.name)}`);
  });
  const values = picked.map(({ exported }) => `u:${exported}`);
  graph.merge(field.ref, { '/V': values.length === 1 ? values[0]! : values, '/I': null });
  const lines = picked.map(({ shown }) => shown);
  for (const widget of field.widgets) drawText(graph, field, widget, { lines, cells: undefined }, typesetter);
}

/** Draws the text of a field as the appearance of one of its widgets. */
function drawText(
  graph: Graph,
  field: Field,
  widget: string,
  { lines, cells }: { readonly lines: readonly string[]; readonly cells: number | undefined },
  typesetter: Typesetter,
): void {
  const dict = graph.dict(widget);
  const [left, bottom, right, top] = boxOf(graph, dict['/Rect']) ?? [0, 0, 0, 0];
  const look = graph.dict(dict['/MK']);
  const turns = ((Math.round(graph.number(look['/R']) / 90) % 4) + 4) % 4;
  const [across, up] = [right - left, top - bottom];
  const [width, height] = turns % 2 === 1 ? [up, across] : [across, up];
  const defaults = textOf(graph.get(dict['/DA'] ?? field.dict['/DA'])) ?? '';
  const stated = Math.min(1000, Number(/([\d.]+)\s+Tf/.exec(defaults)?.[1] ?? 0) || 0);
  const color = /((?:[\d.]+\s+){3}rg|(?:[\d.]+\s+){4}k|[\d.]+\s+g)(?=\s|$)/.exec(defaults)?.[1] ?? '0 g';
  const set = (text: string, paragraph = text) =>
    typesetter.line(text === '' ? ' ' : text, 'Helvetica', directionOf(paragraph));
  const room = Math.max(1, width - 2 * PADDING);
  const isMultiline = has(graph, field, 'multiline');
  const { rows, size } = isMultiline
    ? wrap(lines, { room, height: height - 2 * PADDING, stated }, set)
    : setLines(lines.map((line) => set(line)));
  function setLines(set: readonly Line[]) {
    return { rows: set, size: stated || fitting(set, room, height) };
  }
  const alignment = graph.number(dict['/Q'] ?? field.dict['/Q']);
  const placed = cells === undefined ? rows.map(placeRow) : [...(lines[0] ?? '')].map(placeCell);
  function placeRow(row: Line, index: number): string {
    const free = width - 2 * PADDING - row.width * size;
    const x = PADDING + (alignment === 1 ? free / 2 : alignment === 2 ? free : 0);
    const isSingle = rows.length === 1 && !isMultiline;
    const y = isSingle ? (height - row.height * size) / 2 : height - PADDING - (0.9 + index * LEADING) * size;
    return `1 0 0 1 ${fixed(x)} ${fixed(y)} Tm ${row.operators(size)}`;
  }
  function placeCell(character: string, index: number): string {
    const cell = set(character);
    const x = (width / cells!) * (index + 0.5) - (cell.width * size) / 2;
    return `1 0 0 1 ${fixed(x)} ${fixed((height - cell.height * size) / 2)} Tm ${cell.operators(size)}`;
  }
  const content = [
    ...box(graph, look, dict, { width, height }),
    '/Tx BMC q',
    `1 1 ${fixed(Math.max(0, width - 2))} ${fixed(Math.max(0, height - 2))} re W n`,
    `BT ${color} ${placed.join(' ')} ET`,
    'Q EMC',
  ];
  const turn = [
    [1, 0, 0, 1, 0, 0],
    [0, 1, -1, 0, height, 0],
    [-1, 0, 0, -1, width, height],
    [0, -1, 1, 0, 0, width],
  ][turns]!;
  const appearance = graph.addStream(
    {
      '/Type': '/XObject',
      '/Subtype': '/Form',
      '/BBox': [0, 0, width, height],
      '/Matrix': turn,
      '/Resources': { '/Font': typesetter.fonts() },
    },
    content.join('\n'),
  );
  graph.merge(widget, { '/AP': { '/N': appearance }, '/AS': null });
}

/** Draws the background and the border of a field. */
function box(
  graph: Graph,
  look: Dictionary,
  widget: Dictionary,
  { width, height }: { width: number; height: number },
): string[] {
  const colorOf = (value: Value | undefined, names: readonly [string, string, string]) => {
    const channels = graph.list(value).map((each) => graph.number(each));
    const name = { 1: names[0], 3: names[1], 4: names[2] }[channels.length];
    return name && `${channels.map(fixed).join(' ')} ${name}`;
  };
  const [fill, stroke] = [colorOf(look['/BG'], ['g', 'rg', 'k']), colorOf(look['/BC'], ['G', 'RG', 'K'])];
  const border = graph.number(graph.dict(widget['/BS'])['/W'], 1);
  const inner = `${fixed(border / 2)} ${fixed(border / 2)} ${fixed(width - border)} ${fixed(height - border)} re`;
  return [
    ...(fill ? [`q ${fill} 0 0 ${fixed(width)} ${fixed(height)} re f Q`] : []),
    ...(stroke && border > 0 ? [`q ${stroke} ${fixed(border)} w ${inner} S Q`] : []),
  ];
}

function fitting(rows: readonly Line[], room: number, height: number): number {
  const widest = Math.max(...rows.map(({ width }) => width), 0.01);
  return Math.max(MIN_AUTO_SIZE, Math.min(0.7 * height, room / widest, 3 * MAX_AUTO_SIZE));
}

/** Breaks paragraphs into rows that fit, at the stated size or the largest one at which all rows fit. */
function wrap(
  paragraphs: readonly string[],
  { room, height, stated }: { room: number; height: number; stated: number },
  set: (text: string, paragraph: string) => Line,
): { rows: Line[]; size: number } {
  for (let size = stated || MAX_AUTO_SIZE; ; size = Math.max(MIN_AUTO_SIZE, size - 1)) {
    const rows = paragraphs.flatMap((paragraph) => rowsOf(paragraph, room / size, set));
    if (stated || size <= MIN_AUTO_SIZE || rows.length * LEADING * size <= height) return { rows, size };
  }
}

function rowsOf(paragraph: string, room: number, set: (text: string, paragraph: string) => Line): Line[] {
  const rows: Line[] = [];
  let row = '';
  for (const word of paragraph.split(' ')) {
    const longer = row === '' ? word : `${row} ${word}`;
    if (row !== '' && set(longer, paragraph).width > room) {
      rows.push(set(row, paragraph));
      row = word;
    } else row = longer;
  }
  return [...rows, set(row, paragraph)];
}
