import type { Kind } from '../tool.ts';

/** LibreOffice's numbers of the encodings that text comes in here. */
const [UTF_8, WINDOWS_1252] = [76, 1];
const SEPARATORS = [',', ';', '\t', '|'] as const;

/**
 * Writes what LibreOfficeKit takes when it loads a document: for tables in plain text how they are to be read, as a
 * dialog would ask.
 * Source: https://wiki.documentfoundation.org/Documentation/DevGuide/Spreadsheet_Documents#Filter_Options_for_the_CSV_Filter
 */
export function loadOptions(kind: Kind, bytes: Buffer, { batch }: { batch: boolean }): string {
  // Without it a damaged document waits for an answer to a dialog that nobody sees.
  const silence = batch ? ['Batch=true'] : [];
  if (kind !== 'csv') return silence.join(',');
  const encoding = isUtf8(bytes) ? UTF_8 : WINDOWS_1252;
  // Separator, quote, encoding, first line; then columns as they are, language of the office, quoted cells are text,
  // dates and the like are recognized; four that only matter for writing; formulas stay text.
  const reading = [
    separatorOf(bytes).charCodeAt(0),
    34,
    encoding,
    1,
    '',
    0,
    true,
    true,
    false,
    false,
    false,
    0,
    false,
  ];
  return [...reading, ...silence].join(',');
}

function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** The separator that occurs most often in the first lines. */
function separatorOf(bytes: Buffer): string {
  const lines = bytes.toString('latin1', 0, 4096).replace(/"[^"]*"/g, '');
  const counted = SEPARATORS.map((separator) => ({ separator, count: lines.split(separator).length }));
  return counted.reduce((best, next) => (next.count > best.count ? next : best)).separator;
}
