import { ENCODINGS, type OfficeOptions } from './options.ts';
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
