import type { OfficeOptions } from './options.ts';
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

/** LibreOffice's numbers of the encodings that csv can be written in, from its `rtl/textenc.h`. */
export const ENCODINGS = {
  ...{
    'utf-8': 76,
    'utf-8-bom': 76,
    'utf-16': 65_535,
    'iso-8859-1': 12,
    'iso-8859-2': 13,
    'iso-8859-15': 22,
  },
  'windows-1250': 33,
  'windows-1251': 34,
  'windows-1252': 1,
  'windows-1253': 35,
  'windows-1254': 36,
  'windows-1255': 37,
  'windows-1256': 38,
  'windows-1257': 39,
  'windows-1258': 40,
  'koi8-r': 74,
  shift_jis: 64,
  'euc-jp': 69,
  gb18030: 85,
  big5: 68,
  'euc-kr': 79,
} as const;

const QUOTE = 34;

/** Formats the options of the filter that saves an editable format. */
export function saveOptions(format: Editable, options: OfficeOptions): string {
  if (format === 'html') return 'EmbedImages';
  // Encoding, line ends, two options that only printing uses, and a byte order mark.
  if (format === 'txt') return 'UTF8,LF,,,true';
  return format === 'csv' ? tableOptions(options) : '';
}

/** Source: https://help.libreoffice.org/latest/en-US/text/shared/guide/csv_params.html */
function tableOptions({ outputSeparator = ',', outputEncoding = 'utf-8', sheet = 1 }: OfficeOptions): string {
  // Separator, quote, encoding, first line, column formats, language, quotes only where needed, two options for reading,
  // cells as displayed, no formulas, keep spaces, the sheet, one option for reading, and a byte order mark.
  const writing = [
    outputSeparator.charCodeAt(0),
    QUOTE,
    ENCODINGS[outputEncoding],
    1,
    '',
    0,
    false,
    false,
    true,
    false,
    false,
    sheet,
    false,
    outputEncoding === 'utf-8-bom',
  ];
  return writing.join(',');
}
