import { SaxesParser } from 'saxes';
import { ConversionError } from '../../../shared/errors.ts';
import { quote } from '../../../shared/quote.ts';
import { FieldAppearance } from './field-appearance.ts';
import { type Dictionary, type Graph, isReference, MAX_DEPTH, textOf, type Value } from './graph.ts';
import type { Typesetter } from './typesetter.ts';

/** Bits of a field's flags (ISO 32000-1, tables 226 to 230). */
const FLAGS = {
  multiline: 12,
  password: 13,
  radio: 15,
  button: 16,
  combo: 17,
  edit: 18,
  multiple: 21,
  comb: 24,
} as const;
/** Attributes that fields inherit. */
const INHERITED = ['/FT', '/Ff', '/DA', '/Q', '/MaxLen', '/Opt', '/V'] as const;
const MAX_FIELDS = 50_000;
/** Maximum number of values that cannot be filled in and have a warning each. */
const MAX_WARNINGS = 8;
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

/**
 * Fills in fields and draws them. Returns a warning for each value that cannot be filled in.
 * @throws ConversionError `BAD_PARAMETER` if none can, or if one cannot and `isStrict`.
 */
export function fillFields(
  graph: Graph,
  values: ReadonlyMap<string, FieldValue>,
  typesetter: Typesetter,
  isStrict: boolean,
): string[] {
  const fields = fieldsOf(graph);
  const failures: ConversionError[] = [];
  for (const [name, value] of values) {
    try {
      fillField(graph, fields, name, value, typesetter);
    } catch (thrown) {
      if (isStrict || !(thrown instanceof ConversionError)) throw thrown;
      failures.push(thrown);
    }
  }
  const [first] = failures;
  if (first && failures.length === values.size) throw first;
  const left = failures.length - MAX_WARNINGS;
  return [
    ...failures.slice(0, MAX_WARNINGS).map(({ message }) => `Not filled in: ${message}`),
    ...(left > 0 ? [`${left} more values of the file for '-fill' were not filled in.`] : []),
  ];
}

function fillField(
  graph: Graph,
  fields: ReadonlyMap<string, Field>,
  name: string,
  value: FieldValue,
  typesetter: Typesetter,
): void {
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
      fillButton(graph, field, value, typesetter);
      break;
    case '/Ch':
      fillChoice(graph, field, value, typesetter);
      break;
    default:
      throw fillError(`names the field ${quote(name)}, which cannot be filled in`);
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
  drawText(graph, field, text, typesetter);
}

function drawText(graph: Graph, field: Field, text: string, typesetter: Typesetter): void {
  const max = graph.number(field.dict['/MaxLen']);
  const lines = has(graph, field, 'multiline')
    ? text.split(/\r\n?|\n/)
    : [text.replace(/\s*[\r\n]+\s*/g, ' ')];
  const content = {
    lines: has(graph, field, 'password') ? ['*'.repeat([...text].length)] : lines,
    isMultiline: has(graph, field, 'multiline'),
    cells: has(graph, field, 'comb') && max > 0 && max <= 1000 ? max : undefined,
  };
  for (const widget of field.widgets)
    new FieldAppearance(graph, field.dict, widget, typesetter).drawText(content);
}

/**
 * Draws fields that have no appearance, with the values that they have, and texts and lists whose appearance does not
 * count, because the form asks viewers to draw them.
 */
export function drawFields(graph: Graph, typesetter: Typesetter): void {
  const isStale = graph.get(graph.dict(graph.root['/AcroForm'])['/NeedAppearances']) === true;
  for (const field of fieldsOf(graph).values()) {
    const isButton = graph.get(field.dict['/FT']) === '/Btn';
    const widgets = field.widgets.filter((widget) => (isStale && !isButton) || !hasAppearance(graph, widget));
    if (widgets.length === 0) continue;
    const values = [graph.get(field.dict['/V'])].flat().flatMap((value) => textOf(graph.get(value)) ?? []);
    switch (graph.get(field.dict['/FT'])) {
      case '/Tx':
        drawText(graph, { ...field, widgets }, values[0] ?? '', typesetter);
        break;
      case '/Btn':
        if (has(graph, field, 'button')) drawCaptions(graph, { ...field, widgets }, typesetter);
        else drawButtons(graph, field, typesetter);
        break;
      case '/Ch':
        drawChoice(graph, { ...field, widgets }, values, typesetter);
    }
  }
}

/**
 * Whether a widget has something to draw. An empty dictionary, as LaTeX writes it, is no appearance, and neither is one
 * without a state to turn on.
 */
function hasAppearance(graph: Graph, widget: string): boolean {
  const normal = graph.dict(graph.dict(widget)['/AP'])['/N'];
  return (
    graph.isStream(normal) ||
    Object.entries(graph.dict(normal)).some(([name, state]) => name !== '/Off' && graph.isStream(state))
  );
}

/** Returns the names of a button's states other than off. */
function statesOf(graph: Graph, widget: string): string[] {
  const states = graph.dict(graph.dict(widget)['/AP'])['/N'];
  return graph.isStream(states) ? [] : Object.keys(graph.dict(states)).filter((state) => state !== '/Off');
}

/** Draws push buttons. */
function drawCaptions(graph: Graph, { dict, widgets }: Field, typesetter: Typesetter): void {
  for (const widget of widgets) {
    const caption = textOf(graph.get(graph.dict(graph.dict(widget)['/MK'])['/CA'])) ?? '';
    const appearance = new FieldAppearance(graph, { ...dict, '/Q': 1 }, widget, typesetter);
    appearance.drawText({ lines: [caption], isMultiline: false });
  }
}

/** Draws buttons that have no appearance. */
function drawButtons(graph: Graph, field: Field, typesetter: Typesetter): void {
  const isName = (state: Value | undefined): state is string =>
    typeof state === 'string' && /^\/(?!Off$)/.test(state);
  const value = graph.get(field.dict['/V']);
  for (const [index, widget] of field.widgets.entries()) {
    if (hasAppearance(graph, widget)) continue;
    const { '/AS': shown } = graph.dict(widget);
    const only = field.widgets.length > 1 ? `/${index}` : isName(value) ? value : '/Yes';
    const state = statesOf(graph, widget)[0] ?? (isName(shown) ? shown : only);
    const appearance = new FieldAppearance(graph, field.dict, widget, typesetter);
    appearance.drawButton(state, has(graph, field, 'radio'));
    if (shown === undefined) graph.merge(widget, { '/AS': value === state ? state : '/Off' });
  }
}

function fillButton(graph: Graph, field: Field, value: FieldValue, typesetter: Typesetter): void {
  if (has(graph, field, 'button') || Array.isArray(value)) {
    throw fillError(`names the field ${quote(field.name)}, which cannot be filled in`);
  }
  drawButtons(graph, field, typesetter);
  const states = new Set(field.widgets.flatMap((widget) => statesOf(graph, widget)));
  const options = graph.list(field.dict['/Opt']).map((option) => textOf(graph.get(option)));
  const byOption = typeof value === 'string' ? options.indexOf(value) : -1;
  const isOff = value === false || /^(off|false|no|)$/i.test(String(value));
  const isOn = value === true || /^(on|true|yes)$/i.test(String(value));
  const own = byOption >= 0 ? statesOf(graph, field.widgets[byOption] ?? '')[0] : undefined;
  const state = states.has(`/${String(value)}`)
    ? `/${String(value)}`
    : (own ?? (isOff ? '/Off' : isOn && states.size === 1 ? [...states][0] : undefined));
  if (state === undefined) {
    const named = options.filter((option) => option !== undefined);
    const known = (named.length > 0 ? named : [...states].map((each) => each.slice(1))).map(quote).join(', ');
    throw fillError(`must contain one of ${known} or false for the field ${quote(field.name)}`);
  }
  graph.merge(field.ref, { '/V': state });
  for (const widget of field.widgets)
    graph.merge(widget, { '/AS': statesOf(graph, widget).includes(state) ? state : '/Off' });
}

function fillChoice(graph: Graph, field: Field, value: FieldValue, typesetter: Typesetter): void {
  if (typeof value === 'boolean') throw fillError(`must contain a text for the field ${quote(field.name)}`);
  const chosen = [value].flat();
  if (chosen.length > 1 && !has(graph, field, 'multiple'))
    throw fillError(`must contain one text only for the field ${quote(field.name)}`);
  const options = optionsOf(graph, field);
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
  drawChoice(
    graph,
    field,
    picked.map(({ exported }) => exported),
    typesetter,
  );
}

function optionsOf(graph: Graph, { dict }: Field) {
  return graph.list(dict['/Opt']).map((option) => {
    const pair = graph.list(option);
    const exported = textOf(graph.get(pair.length === 2 ? pair[0] : option)) ?? '';
    return { exported, shown: textOf(graph.get(pair.length === 2 ? pair[1] : option)) ?? exported };
  });
}

/** Draws a list or a combo box with the values that are chosen, as they are exported. */
function drawChoice(graph: Graph, field: Field, values: readonly string[], typesetter: Typesetter): void {
  const options = optionsOf(graph, field);
  const indexes = values.map((value) => options.findIndex(({ exported }) => exported === value));
  const known = indexes.filter((index) => index >= 0).sort((one, other) => one - other);
  for (const widget of field.widgets) {
    const appearance = new FieldAppearance(graph, field.dict, widget, typesetter);
    if (has(graph, field, 'combo')) {
      const lines = values.map((value, index) => options[indexes[index]!]?.shown ?? value);
      appearance.drawText({ lines, isMultiline: false });
      continue;
    }
    const [first = 0] = known;
    const stated = graph.number(field.dict['/TI']);
    const isVisible = first >= stated && first < stated + appearance.rowCount;
    const top = isVisible ? stated : Math.max(0, Math.min(first, options.length - appearance.rowCount));
    graph.merge(field.ref, { '/I': known, '/TI': top });
    appearance.drawList({ items: options.map(({ shown }) => shown), chosen: new Set(known), top });
  }
}

/** The value of a form field: a text, a switch, or the selected texts of a list. */
export type FieldValue = string | boolean | readonly string[];

/** Maximum depth of nested names. */
const MAX_NESTING = 50;
/** Maximum number of fields. */
const MAX_VALUES = 10_000;
/** Maximum characters of all values. An engine takes up to a second to set 10,000. */
const MAX_CHARACTERS = 100_000;

/**
 * Reads the values of fields by full name, such as `person.name`, from JSON or XFDF.
 * @throws ConversionError `BAD_PARAMETER`
 */
export function readFieldValues(bytes: Buffer): ReadonlyMap<string, FieldValue> {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const values = new Map<string, FieldValue>();
  let characters = 0;
  const add = (name: string, value: FieldValue) => {
    values.set(name, value);
    characters += String(value).length;
    if (characters > MAX_CHARACTERS) throw fillError(`has values of more than ${MAX_CHARACTERS} characters`);
    if (values.size > MAX_VALUES) throw fillError(`names more than ${MAX_VALUES} fields`);
  };
  if (/^\s*</.test(text)) readXfdf(text, add);
  else readJson(text, add);
  return values;
}

type Add = (name: string, value: FieldValue) => void;

function readJson(text: string, add: Add): void {
  let parsed: unknown;
  try {
    // Numbers stay as they are written: 12.50, or more digits than a number of JavaScript has.
    parsed = JSON.parse(text, (_key, value, context?: { readonly source: string }) =>
      typeof value === 'number' ? (context?.source ?? String(value)) : value,
    );
  } catch {
    throw fillError('is neither JSON nor XFDF');
  }
  const read = (name: string, value: unknown, depth: number): void => {
    if (depth > MAX_NESTING) throw fillError(`nests names more than ${MAX_NESTING} times`);
    if (typeof value === 'string' || typeof value === 'boolean') add(name, value);
    else if (value === null) add(name, '');
    else if (Array.isArray(value)) add(name, value.map(String));
    else {
      for (const [key, each] of Object.entries(value as object))
        read(name === '' ? key : `${name}.${key}`, each, depth + 1);
    }
  };
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed))
    throw fillError('must be a JSON object with the names and values of fields');
  read('', parsed, 0);
}

/** Reads XFDF (ISO 19444-1). Entities other than XML's own are errors, so none is expanded. */
function readXfdf(text: string, add: Add): void {
  const parser = new SaxesParser();
  const names: string[] = [];
  let value: string | undefined;
  let values: string[] = [];
  /** The text of a value with formatting, which counts if there is no plain one. */
  let rich: string | undefined;
  parser.on('error', () => {
    throw fillError('is not well-formed XFDF');
  });
  parser.on('opentag', ({ name, attributes }) => {
    if (name === 'field') {
      names.push(String(attributes.name ?? ''));
      values = [];
      if (names.length > MAX_NESTING) throw fillError(`nests names more than ${MAX_NESTING} times`);
      rich = undefined;
    } else if (/^value(-richtext)?$/.test(name) && names.length > 0) value = '';
  });
  parser.on('text', (part) => {
    if (value !== undefined) value += part;
  });
  parser.on('cdata', (part) => {
    if (value !== undefined) value += part;
  });
  parser.on('closetag', ({ name }) => {
    if (value !== undefined && (name === 'p' || name === 'br')) value += '\n';
    if (value !== undefined && name === 'value') values.push(value);
    if (value !== undefined && name === 'value-richtext') rich = value.trim();
    if (/^value(-richtext)?$/.test(name)) value = undefined;
    if (name !== 'field') return;
    if (values.length === 0 && rich !== undefined) values.push(rich);
    rich = undefined;
    if (values.length > 0) add(names.join('.'), values.length === 1 ? values[0]! : values);
    values = [];
    names.pop();
  });
  parser.write(text).close();
}

/** Returns the error about the file of `-fill`. */
function fillError(problem: string): ConversionError {
  return new ConversionError('BAD_PARAMETER', `The file for '-fill' ${problem}.`, { parameter: '-fill' });
}
