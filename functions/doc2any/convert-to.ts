import { ENCODINGS } from '../engines/office/options.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Format } from '../shared/formats.ts';
import type { Parameter } from '../shared/options/option.ts';
import { quote } from '../shared/quote.ts';

const NAME = '--convert-to';

/** Returns the options that stand for a property of LibreOffice's PDF export. */
type Translation = (value: string) => readonly (readonly [name: string, value: string])[];

const same =
  (name: string): Translation =>
  (value) => [[name, value]];
const oneOf =
  (name: string, values: Readonly<Record<string, string>>): Translation =>
  (value) => {
    const own = values[value];
    if (own === undefined) throw unsupported(`the value ${quote(value)}`);
    return own === '' ? [] : [[name, own]];
  };
const none: Translation = () => [];

/** Properties by their names. Source: https://help.libreoffice.org/latest/en-US/text/shared/guide/pdf_params.html */
const PROPERTIES: Readonly<Record<string, Translation>> = {
  PageRange: (value) => [['--pages', value.replaceAll(';', ',')]],
  DocumentOpenPassword: same('--encrypt'),
  PermissionPassword: same('--owner-password'),
  Printing: oneOf('--allow-print', { 0: 'none', 1: 'low', 2: 'full' }),
  Changes: oneOf('--allow-modify', { 0: 'none', 1: 'assembly', 2: 'form', 3: 'annotate', 4: 'all' }),
  EnableCopyingOfContent: same('--allow-copy'),
  EnableTextAccessForAccessibilityTools: none,
  SelectPdfVersion: oneOf('--pdf-version', {
    0: '',
    1: 'PDF/A-1b',
    2: 'PDF/A-2b',
    3: 'PDF/A-3b',
    15: '1.5',
    16: '1.6',
    17: '1.7',
    20: '2.0',
  }),
  PDFUACompliance: (value) => (isTrue(value) ? [['--pdf-version', 'PDF/UA']] : []),
  Watermark: same('--watermark'),
  WatermarkColor: (value) => [['--watermark-color', `#${Number(value).toString(16).padStart(6, '0')}`]],
  WatermarkRotateAngle: (value) => [['--watermark-angle', String(Number(value) / 10)]],
  Quality: same('--quality'),
  UseLosslessCompression: same('--lossless'),
  MaxImageResolution: same('--image-dpi'),
  ReduceImageResolution: none,
  UseTaggedPDF: same('--tagged'),
  ExportNotes: same('--comments'),
  ExportNotesPages: same('--notes'),
  ExportHiddenSlides: same('--hidden-slides'),
  ExportBookmarks: same('--bookmarks'),
  ExportFormFields: same('--forms'),
  SinglePageSheets: (value) => (isTrue(value) ? [['--fit', 'sheet']] : []),
};

/** Properties that a caller relies on for protection. */
const PROTECTIVE = /encrypt|password|permission|restrict|redact|sign|certificate|watermark|range|selection/i;
/** Switches of properties that have their values. */
const SWITCHES: Readonly<Record<string, string>> = {
  EncryptFile: 'DocumentOpenPassword',
  RestrictPermissions: 'PermissionPassword',
};

/**
 * Translates the value of soffice's `--convert-to`, `EXTENSION[:FILTER[:OPTIONS]]`, to options of doc2any. Keeps the parameter itself if
 * some of it has no effect.
 * @throws ConversionError `BAD_PARAMETER` for another format than that of the result, and for what protects and has no equivalent.
 */
export function expandConvertTo({ value }: Parameter, format: Format | undefined): Parameter[] {
  const [, extension = '', options = ''] = /^\s*([^:]*)(?::[^:]*)?(?::(.*))?$/s.exec(value) ?? [];
  const asked = extension.replace(/^"|"$/g, '').toLowerCase();
  if (format !== undefined && asked !== '' && asked !== format && asked !== 'htm')
    throw badParameter(`asks for ${quote(asked)}, but the extension of 'outfile' is ${quote(format)}`);
  const given = options.trim().replace(/^'(.*)'$/s, '$1');
  if (given === '') return [{ name: NAME, value }];
  if (format === 'csv') return tableOptions(given);
  const properties = readProperties(given);
  const expanded: Parameter[] = [];
  let isKept = false;
  for (const [name, own] of Object.entries(properties)) {
    const needed = SWITCHES[name];
    if (needed !== undefined) {
      if (isTrue(own) && !properties[needed]) throw badParameter(`sets '${name}', but not '${needed}'`);
      continue;
    }
    const translate = Object.hasOwn(PROPERTIES, name) ? PROPERTIES[name] : undefined;
    if (!translate && PROTECTIVE.test(name)) throw unsupported(quote(name));
    if (translate) expanded.push(...translate(own).map(([option, text]) => ({ name: option, value: text })));
    else isKept = true;
  }
  return isKept ? [...expanded, { name: NAME, value }] : expanded;
}

/** Reads JSON, whose values are plain or have a type, or the form `Name=value,Name=value`. */
function readProperties(text: string): Record<string, string> {
  if (!text.startsWith('{')) {
    const pairs = text.split(',').map((pair) => /^\s*(\w+)\s*=(.*)$/s.exec(pair));
    if (pairs.includes(null)) throw badParameter("must have filter options as JSON or as 'Name=value,…'");
    return Object.fromEntries(pairs.map((pair) => [pair![1]!, pair![2]!.trim()]));
  }
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    throw badParameter('has filter options that are not valid JSON');
  }
  const entries = Object.entries(read as object).map(([name, own]: [string, unknown]) => {
    const value = typeof own === 'object' && own !== null && 'value' in own ? own.value : own;
    return [name, String(value)] as const;
  });
  return Object.fromEntries(entries);
}

/** Reads the tokens of the csv filter: separator, quote, encoding, and at the twelfth place the sheet. */
function tableOptions(text: string): Parameter[] {
  const tokens = text.split(',');
  const separator = Number(tokens[0]);
  const encoding = Object.entries(ENCODINGS).find(([, number]) => String(number) === tokens[2])?.[0];
  const sheet = Number(tokens[11]);
  if (tokens[0] === '' || !(separator > 0 && separator < 128))
    throw badParameter('must have the code of a character as the first filter option of csv');
  if (tokens[2] && tokens[2] !== '0' && encoding === undefined && !/^utf-?8$/i.test(tokens[2]))
    throw unsupported(`the encoding ${quote(tokens[2])}`);
  if (sheet < 0) throw unsupported('one file for each sheet');
  return [
    { name: '--output-separator', value: String.fromCharCode(separator) },
    ...(encoding === undefined ? [] : [{ name: '--output-encoding', value: encoding }]),
    ...(sheet > 0 ? [{ name: '--sheet', value: String(sheet) }] : []),
  ];
}

function isTrue(value: string): boolean {
  return /^(true|1)$/i.test(value);
}

function unsupported(what: string): ConversionError {
  return badParameter(`has filter options that are not supported: ${what}`);
}

function badParameter(rule: string): ConversionError {
  return new ConversionError('BAD_PARAMETER', `Parameter '${NAME}' ${rule}.`, { parameter: NAME });
}
