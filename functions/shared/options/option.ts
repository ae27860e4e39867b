import { ConversionError } from '../errors.ts';
import type { Format } from '../formats.ts';
import { quote } from '../quote.ts';
import { GEOMETRY_RULE, readGeometry, type Size } from './geometry.ts';
import { createIssues } from './issues.ts';

/** A decoded `name=value` pair of the query. */
export interface Parameter {
  readonly name: string;
  readonly value: string;
}

/** Where an option has an effect. Without any members: everywhere. */
export interface Scope {
  /** Output formats that the option affects. */
  readonly outputs?: readonly Format[];
  /** Kinds of source that the option affects, named as in `Converted.sourceKind`. */
  readonly inputs?: readonly string[];
  /** Kinds of source for which the option affects every output. */
  readonly anyOutputFrom?: readonly string[];
  /** Keys of other options, at least one of which must be on or set. */
  readonly with?: readonly string[];
  /**
   * Whether callers rely on the option to protect, hide or remove something. If so, using it without effect is an
   * error, instead of being listed in `X-Ignored-Options`.
   */
  readonly protects?: boolean;
}

/**
 * The words that follow an option on a command line: `none` for a switch, `optional` for a switch that may have a
 * value, `pair` for a name and a value, and `two` for two words of one value.
 */
export type Words = 'none' | 'optional' | 'pair' | 'two';

/** Defines one option. Its type, its row in the reference and its error messages are all derived from this. */
export interface Option<Value> extends Scope {
  /** Names in the query, including hyphens. The first is the preferred one. */
  readonly names: readonly string[];
  /** One phrase for the option reference. */
  readonly description: string;
  /** Heading under which the reference lists the option. */
  readonly category?: string;
  /** Describes valid values; completes "must be …". */
  readonly rule: string;
  /** The value if the option is not given. */
  readonly default: Value;
  /** Whether the option may be given more than once. */
  readonly repeatable: boolean;
  /** Maximum characters of a value, which is checked before it is parsed. */
  readonly maxLength: number;
  /** Maximum characters of all values of a repeatable option, if they become more than text. */
  readonly maxTotal?: number;
  /** Set if the option's names apply in the order of the query. */
  readonly order?: {
    /** Names whose position matters only if they are repeated. */
    readonly settings: ReadonlySet<string>;
  };
  /** The words that follow the option on a command line. Defaults to one word. */
  readonly words?: Words;
  /** Whether a value has no effect on this output, or has a meaning only for the original program. */
  readonly ignores?: (value: string, format: Format | undefined) => boolean;
  /**
   * Whether the value names a source. A file under the option's name in a multipart body is that source, and the value can
   * be `upload:ID` or a `data:` URL.
   */
  readonly namesSource?: boolean;
  /** The options that a sequence consists of. */
  readonly readers?: Readonly<Record<string, Option<unknown>>>;
  /** JSON Schema of one value, for events that invoke a tool's function directly. */
  readonly schema: JsonSchema;
  /**
   * Reads the pairs that were given under any of the names: one pair, or several if `repeatable` is true.
   * @throws ConversionError `BAD_PARAMETER` with the name, the rule and the value.
   */
  read(parameters: readonly Parameter[]): Value;
}

/** Options by key, as a tool defines them. */
export type Options = Readonly<Record<string, Option<unknown>>>;

/** The values of options, typed by their definitions. */
export type ValuesOf<P extends Options> = {
  readonly [Key in keyof P]: P[Key] extends Option<infer Value> ? Value : never;
};

export type JsonSchema = Readonly<Record<string, unknown>>;

type Names = string | readonly string[];

interface Common<Default> extends Scope {
  readonly description: string;
  readonly words?: Words | undefined;
  readonly ignores?: Option<unknown>['ignores'];
  /** The default schema is a string or a number. */
  readonly schema?: JsonSchema;
  readonly default?: Default;
  /** See `Option`. Defaults to `MAX_WORD`. */
  readonly maxLength?: number;
}

/** Maximum characters of a value whose option does not say otherwise: a number, a word, a color or a short list. */
const MAX_WORD = 100;
/** Maximum characters of all parameters of a request. */
export const MAX_PARAMETER_LENGTH = 65_536;
/** Maximum number of values of a repeatable option, and of operators in a request. */
export const MAX_VALUES = 100;

function pickScope({ outputs, inputs, anyOutputFrom, with: others, protects }: Scope): Scope {
  return {
    ...(outputs && { outputs }),
    ...(inputs && { inputs }),
    ...(anyOutputFrom && { anyOutputFrom }),
    ...(others && { with: others }),
    ...(protects && { protects }),
  };
}

/** Sets the category of options, and the scope of those that have none. */
export function category<const P extends Options>(name: string, options: P, scope: Scope = {}): P {
  const entries = Object.entries(options).map(([key, option]) => [
    key,
    { category: name, ...scope, ...option },
  ]);
  return Object.fromEntries(entries) as P;
}

function invalidValueError({ name, value }: Parameter, rule: string): ConversionError {
  const message = `Parameter '${name}' must be ${rule}, got ${quote(value)}.`;
  return new ConversionError('BAD_PARAMETER', message, { parameter: name });
}

/**
 * Returns an option with a rule and a parser. The parser gets the value and the name that the caller used, and returns
 * `undefined` for a value that breaks the rule.
 */
export function option<Value, Default extends Value | undefined = undefined>(
  names: Names,
  rule: string,
  parse: (value: string, name: string) => Value | undefined,
  options: Common<Default>,
): Option<Value | Default> {
  return {
    ...pickScope(options),
    ...(options.words && { words: options.words }),
    ...(options.ignores && { ignores: options.ignores }),
    names: [names].flat(),
    description: options.description,
    rule,
    default: options.default as Default,
    repeatable: false,
    maxLength: options.maxLength ?? MAX_WORD,
    schema: options.schema ?? { type: ['string', 'number'] },
    read: ([parameter]) => {
      const value = parse(parameter!.value, parameter!.name);
      if (value === undefined) throw invalidValueError(parameter!, rule);
      return value;
    },
  };
}

/** Defines an integer from `min` to `max`. */
export function integer<Default extends number | undefined = undefined>(
  names: Names,
  options: Common<Default> & { readonly min: number; readonly max: number },
): Option<number | Default> {
  const { min, max } = options;
  const parse = (value: string) => {
    if (!/^[+-]?\d{1,15}$/.test(value)) return undefined;
    return inRange(Number(value), min, max);
  };
  const schema = { type: 'integer', minimum: min, maximum: max };
  return option(names, `an integer from ${min} to ${max}`, parse, { ...options, schema });
}

/** Defines a decimal number from `min` to `max`. */
export function number<Default extends number | undefined = undefined>(
  names: Names,
  options: Common<Default> & { readonly min: number; readonly max: number },
): Option<number | Default> {
  const { min, max } = options;
  const parse = (value: string) => {
    if (!/^[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})$/.test(value)) return undefined;
    return inRange(Number(value), min, max);
  };
  const schema = { type: 'number', minimum: min, maximum: max };
  return option(names, `a number from ${min} to ${max}`, parse, { ...options, schema });
}

function inRange(value: number, min: number, max: number): number | undefined {
  return value >= min && value <= max ? value : undefined;
}

const ON = ['on', 'true', 'yes', '1'];
const OFF = ['off', 'false', 'no', '0'];

/** The rule of a switch. The name alone turns it on, too. */
export const SWITCH_RULE = `one of ${[...ON, ...OFF].join(', ')}`;

/** Returns whether a value turns a switch on, or `undefined` if it breaks `SWITCH_RULE`. Case-insensitive. */
export function readSwitch(value: string): boolean | undefined {
  const word = value.toLowerCase();
  if (word === '' || ON.includes(word)) return true;
  return OFF.includes(word) ? false : undefined;
}

/** Defines a switch. `off` lists names that invert it. */
export function flag(
  names: Names,
  options: Scope & { readonly description: string; readonly default?: boolean; readonly off?: Names },
): Option<boolean> {
  const inverted = [options.off ?? []].flat();
  const parse = (value: string, name: string) => {
    const isOn = readSwitch(value);
    return isOn === undefined ? undefined : isOn !== inverted.includes(name);
  };
  return option([names, inverted].flat(), SWITCH_RULE, parse, {
    ...options,
    words: 'none',
    default: options.default ?? false,
    schema: { type: 'boolean' },
  });
}

/** Defines one of several words, case-insensitive. */
export function choice<
  const Word extends string,
  const Default extends NoInfer<Word> | undefined = undefined,
>(names: Names, words: readonly Word[], options: Common<Default>): Option<Word | Default> {
  const parse = (value: string) => words.find((word) => word.toLowerCase() === value.toLowerCase());
  const schema = { enum: words };
  return option(names, `one of ${words.join(', ')}`, parse, { ...options, schema });
}

/** Maximum characters before the bytes of a text are counted. */
const MAX_BYTES = 1000;

/** Defines a text without control characters. */
export function text<Default extends string | undefined = undefined>(
  names: Names,
  options: Common<Default> & {
    readonly max?: number;
    /** Unit of `max`: characters, or bytes in UTF-8. */
    readonly unit?: 'characters' | 'bytes';
    readonly pattern?: RegExp;
    /** Describes the values that `pattern` accepts; completes "must be …". */
    readonly rule?: string;
  },
): Option<string | Default> {
  const { max = 1000, unit = 'characters', pattern = /^/ } = options;
  const rule = options.rule ?? `text of 1 to ${max} ${unit}`;
  const parse = (value: string) => {
    const length = unit === 'bytes' ? Buffer.byteLength(value) : value.length;
    const fits = length >= 1 && length <= max && !/\p{Cc}/u.test(value) && pattern.test(value);
    return fits ? value : undefined;
  };
  const schema = { type: 'string', minLength: 1, maxLength: max };
  return option(names, rule, parse, { ...options, maxLength: unit === 'bytes' ? MAX_BYTES : max, schema });
}

/** `-resize`: the size of an image, as in ImageMagick. */
export function resizing(description: string): Option<string | undefined> {
  return option('-resize', GEOMETRY_RULE, readGeometry, {
    description,
    schema: { type: 'string', maxLength: 40 },
  });
}

/** Maximum number of characters of a URL in `infile` or an option. */
export const MAX_URL_LENGTH = 8000;

/** The rule of `readUrl`. */
export const URL_RULE = `an absolute http or https URL of at most ${MAX_URL_LENGTH} characters`;

/** Returns a text that is an http or https URL, or `undefined`. */
export function readUrl(value: string): string | undefined {
  const url = value.length <= MAX_URL_LENGTH ? URL.parse(value) : null;
  return url && /^https?:$/.test(url.protocol) && url.hostname ? url.href : undefined;
}

/** A URL from which another source is downloaded. The source may also be sent with the request. */
export function sourceUrl(names: Names, options: Common<undefined>): Option<string | undefined> {
  const schema = { type: 'string', maxLength: MAX_URL_LENGTH };
  return textOrSource(option(names, URL_RULE, readUrlOrFile, { ...options, schema }));
}

/** Marks an option whose value may also be text, if it is not a URL or a sent file. A `data:` URL can be long. */
export function textOrSource<Value>(option: Option<Value>): Option<Value> {
  return { ...option, namesSource: true, maxLength: MAX_PARAMETER_LENGTH };
}

const UPLOAD_ID = /^[0-9a-f]{32}\/[\p{L}\p{N} ._-]{1,100}$/u;

/** Whether a text has the form of an upload ID. */
export function isUploadId(text: string): boolean {
  return UPLOAD_ID.test(text);
}

/** Whether a source is an object in a bucket. `functions/buckets` reads the rest of its URL. */
export function isBucketUrl(value: string): boolean {
  return value.startsWith('s3://');
}

/** Whether a source was sent with the request or before it, or is in a bucket, so that its value is not a URL that a tool can download. */
export function isSentFile(value: string): boolean {
  if (/^data:/i.test(value) || isBucketUrl(value)) return true;
  return value.startsWith('upload:') && isUploadId(value.slice('upload:'.length));
}

/** Returns a text that is a URL, or names a file that was sent, or `undefined`. */
export function readUrlOrFile(value: string): string | undefined {
  return isSentFile(value) ? value : readUrl(value);
}

const MILLIMETERS = {
  mm: 1,
  cm: 10,
  m: 1000,
  in: 25.4,
  inch: 25.4,
  px: 25.4 / 96,
  pt: 25.4 / 72,
  pc: 25.4 / 6,
  pica: 25.4 / 6,
};

/**
 * Defines a length in millimeters. As in wkhtmltopdf, a number without a unit is millimeters, and a px is 1/96 inch.
 */
export function length<Default extends number | undefined = undefined>(
  names: Names,
  options: Common<Default> & { readonly min: number; readonly max: number },
): Option<number | Default> {
  return option(names, lengthRule(options), (value) => parseLength(value, options), options);
}

interface Range {
  readonly min: number;
  readonly max: number;
}

/** Describes the lengths from `min` to `max` millimeters; completes "must be …". */
export function lengthRule({ min, max }: Range): string {
  return `a length from ${min}mm to ${max}mm (mm, cm, m, in, px, pt or pc)`;
}

export function parseLength(value: string, { min, max }: Range): number | undefined {
  const match = /^(\d{1,9}(?:\.\d{0,9})?|\.\d{1,9})\s*([a-z]*)$/i.exec(value.trim());
  const unit = (match?.[2] || 'mm').toLowerCase();
  if (!match || !Object.hasOwn(MILLIMETERS, unit)) return undefined;
  return inRange(Number(match[1]) * MILLIMETERS[unit as keyof typeof MILLIMETERS], min, max);
}

/** Defines a width and height as `WxH`, both integers. */
export function size<Default extends Size | undefined = undefined>(
  names: Names,
  options: Common<Default> & { readonly min: number; readonly max: number },
): Option<Size | Default> {
  const { min, max } = options;
  const parse = (value: string) => {
    const match = /^(\d{1,6})x(\d{1,6})$/i.exec(value);
    const width = inRange(Number(match?.[1]), min, max);
    const height = inRange(Number(match?.[2]), min, max);
    return width === undefined || height === undefined ? undefined : { width, height };
  };
  return option(names, `two integers such as 1024x768, each from ${min} to ${max}`, parse, options);
}

/** Pages `first` to `last`, inclusive and starting at 1. Negative numbers count from the end: -1 is the last page. */
export interface PageRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Defines a list of pages such as `1,3-5,8-,!1`. `!1` is the last page, and a range without an end goes to the last
 * page.
 */
export function pageList<Default extends readonly PageRange[] | undefined = undefined>(
  names: Names,
  options: Common<Default>,
): Option<readonly PageRange[] | Default> {
  const rule = 'a list of pages such as 1,3-5,8-,!1 (!1 is the last page)';
  return option(names, rule, readPageList, { ...options, maxLength: MAX_PAGE_LIST });
}

/** Maximum characters of a list of pages. */
export const MAX_PAGE_LIST = 4000;

/** Reads a list of pages, or returns `undefined`. */
export function readPageList(value: string): readonly PageRange[] | undefined {
  const ranges = value.split(',').map(parsePageRange);
  return ranges.length <= 500 && ranges.every((range) => range !== undefined) ? ranges : undefined;
}

function parsePageRange(part: string): PageRange | undefined {
  const match = /^(!?)([1-9]\d{0,5})(?:(-)(?:(!?)([1-9]\d{0,5}))?)?$/.exec(part.trim());
  if (!match) return undefined;
  const first = match[1] ? -Number(match[2]) : Number(match[2]);
  if (!match[3]) return { first, last: first };
  const last = match[5] ? (match[4] ? -Number(match[5]) : Number(match[5])) : -1;
  if (first > 0 && last > 0 && last < first) return undefined;
  return { first, last };
}

/** Returns an option that may be given more than once. The values keep the order of the query. */
export function repeatable<Value>(
  option: Option<Value | undefined>,
  bounds: Pick<Option<unknown>, 'maxTotal'> = {},
): Option<readonly Value[]> {
  return {
    ...option,
    ...bounds,
    default: [],
    repeatable: true,
    read: (parameters) => readEach(parameters, (pair) => option.read([pair]) as Value),
  };
}

/** Reads each pair and reports every invalid one. */
function readEach<Value>(parameters: readonly Parameter[], read: (pair: Parameter) => Value): Value[] {
  const { attempt, throwAll } = createIssues();
  const values = parameters.map((pair) => attempt(() => read(pair), pair.name));
  throwAll();
  return values as Value[];
}

/** One step of a sequence: an operator and its value. */
type Step<Readers extends Readonly<Record<string, Option<unknown>>>> = {
  readonly [Name in keyof Readers]: {
    readonly operator: Name;
    readonly value: Readers[Name] extends Option<infer Value> ? Exclude<Value, undefined> : never;
  };
}[keyof Readers];

/**
 * Defines operators that apply in the order of the query and may be repeated. The position of an operator in `settings`
 * matters only if it is repeated.
 */
export function sequence<const Readers extends Readonly<Record<string, Option<unknown>>>>(
  readers: Readers,
  options: { readonly description: string; readonly settings?: ReadonlyArray<keyof Readers> },
): Option<ReadonlyArray<Step<Readers>>> & { readonly readers: Readers } {
  const byName = new Map(
    Object.entries(readers).flatMap(([operator, reader]) =>
      reader.names.map((name) => [name, { operator, reader }] as const),
    ),
  );
  return {
    names: [...byName.keys()],
    description: options.description,
    rule: `up to ${MAX_VALUES} operators`,
    default: [],
    repeatable: true,
    maxLength: Math.max(...Object.values(readers).map((reader) => reader.maxLength)),
    order: { settings: new Set((options.settings ?? []).flatMap((name) => readers[name]!.names)) },
    schema: {},
    readers,
    read: (parameters) =>
      readEach(parameters, (pair) => {
        const { operator, reader } = byName.get(pair.name)!;
        return { operator, value: reader.read([pair]) } as Step<Readers>;
      }),
  };
}
