import { SaxesParser } from 'saxes';
import { ConversionError } from '../../../shared/errors.ts';

/** The value of a form field: a text, a switch, or the selected texts of a list. */
export type FieldValue = string | boolean | readonly string[];

/** Maximum depth of nested names. */
const MAX_DEPTH = 50;
/** Maximum number of fields. */
const MAX_VALUES = 10_000;

/**
 * Reads the values of fields by full name, such as `person.name`, from JSON or XFDF.
 * @throws ConversionError `BAD_PARAMETER`
 */
export function readFieldValues(bytes: Buffer): ReadonlyMap<string, FieldValue> {
  const text = bytes.toString('utf8').replace(/^\ufeff/, '');
  const values = new Map<string, FieldValue>();
  const add = (name: string, value: FieldValue) => {
    values.set(name, value);
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
    if (depth > MAX_DEPTH) throw fillError(`nests names more than ${MAX_DEPTH} times`);
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
      if (names.length > MAX_DEPTH) throw fillError(`nests names more than ${MAX_DEPTH} times`);
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
export function fillError(problem: string): ConversionError {
  return new ConversionError('BAD_PARAMETER', `The file for '-fill' ${problem}.`, { parameter: '-fill' });
}
