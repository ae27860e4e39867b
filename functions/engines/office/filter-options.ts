import { ENCODINGS, type OfficeOptions, officeOptions } from './options.ts';
import type { Editable } from './outputs.ts';

/** LibreOffice's export filters by extension. */
export const FILTERS: Readonly<Record<Editable, string>> = {
  docx: 'MS Word 2007 XML',
  odt: 'writer8',
  rtf: 'Rich Text Format',
  txt: 'Text (encoded)',
  html: 'HTML (StarWriter)',
  xlsx: 'Calc MS Excel 2007 XML',
  ods: 'calc8',
  csv: 'Text - txt - csv (StarCalc)',
  pptx: 'Impress MS PowerPoint 2007 XML',
  odp: 'impress8',
};

/** LibreOffice's number for UTF-8. */
const UTF_8 = 76;
/** LibreOffice's number for columns of text. */
const TEXT = 2;
/** A quotation mark, by the code of its character. */
const QUOTE = 34;

/**
 * Returns the load options of LibreOfficeKit. For a text table, whose separator is given, they tell Calc how to read
 * it.
 * Source:
 * https://wiki.documentfoundation.org/Documentation/DevGuide/Spreadsheet_Documents#Filter_Options_for_the_CSV_Filter
 */
export function loadOptions({
  batch,
  separator,
  textColumns = [],
}: {
  readonly batch: boolean;
  readonly separator: string | undefined;
  /** Numbers of columns that are not read as numbers and dates. */
  readonly textColumns?: readonly number[] | undefined;
}): string {
  // Without `Batch`, LibreOffice waits forever for a dialog about a damaged document.
  const general = batch ? ['Batch=true'] : [];
  if (separator === undefined) return general.join(',');
  // Separator, quote, encoding, first line, column formats, language, quoted cells can be numbers, detect only plain
  // numbers and ISO dates (the default of soffice), four options for writing, and formulas stay text.
  const formats = textColumns.map((column) => `${column}/${TEXT}`).join('/');
  const reading = `${separator.charCodeAt(0)},${QUOTE},${UTF_8},1,${formats},0,false,false,false,false,false,0,false`;
  return [reading, ...general].join(',');
}

/** Formats the options of the filter that saves an editable format. */
export function saveOptions(format: Editable, options: OfficeOptions): string {
  if (format === 'html') return 'EmbedImages';
  // Encoding, line ends, two options that only printing uses, and a byte order mark.
  if (format === 'txt') return `UTF8,LF,,,${hasMark(options)}`;
  return format === 'csv' ? tableOptions(options) : '';
}

function hasMark({ outputEncoding }: OfficeOptions): boolean {
  return outputEncoding === 'utf-8-bom';
}

/** Source: https://help.libreoffice.org/latest/en-US/text/shared/guide/csv_params.html */
function tableOptions(options: OfficeOptions): string {
  const { outputSeparator = ',', outputEncoding = 'utf-8', sheet = 1 } = options;
  const separator = outputSeparator.charCodeAt(0);
  const encoding = ENCODINGS[outputEncoding];
  // Separator, quote, encoding, first line, column formats, language, quotes only where needed, two options for reading,
  // cells as displayed, no formulas, keep spaces, the sheet, one option for reading, and a byte order mark.
  return `${separator},${QUOTE},${encoding},1,,0,false,false,true,false,false,${sheet},false,${hasMark(options)}`;
}

/**
 * Writes the filter options of LibreOffice's PDF export as JSON. Encryption is not included: qpdf does it, with AES-256.
 * Source: https://help.libreoffice.org/latest/en-US/text/shared/guide/pdf_params.html
 */
export function exportOptions(options: OfficeOptions, pageRange: string | undefined): string {
  const values = {
    ReduceImageResolution: true,
    SinglePageSheets: options.fit === 'sheet',
    // The default of soffice. Otherwise, relative links contain the path of the conversion's temporary folder.
    ExportLinksRelativeFsys: true,
    // Skips the pages that LibreOffice inserts to keep odd page numbers on the right. Word inserts none where
    // numbering restarts.
    IsSkipEmptyPages: true,
    ...(pageRange !== undefined && { PageRange: pageRange }),
    ...ownProperties(options),
  };
  const properties = Object.entries(values).map(([name, value]) => [name, property(value)]);
  return JSON.stringify(Object.fromEntries(properties));
}

/** Returns the export properties that individual options define. */
function ownProperties(options: OfficeOptions): Record<string, string | number | boolean> {
  const values: Readonly<Record<string, unknown>> = options;
  const own = Object.entries(officeOptions).map(([key, option]) =>
    'properties' in option && values[key] !== undefined
      ? (option.properties as (value: unknown) => object)(values[key])
      : {},
  );
  return Object.assign({}, ...own);
}

function property(value: string | number | boolean) {
  const type = typeof value === 'number' ? 'long' : typeof value;
  return { type, value: String(value) };
}
