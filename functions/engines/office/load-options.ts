/** LibreOffice's number for UTF-8. */
const UTF_8 = 76;
const QUOTE = 34;

/**
 * Returns the load options of LibreOfficeKit. For a text table, whose separator is given, they tell Calc how to read
 * it.
 * Source:
 * https://wiki.documentfoundation.org/Documentation/DevGuide/Spreadsheet_Documents#Filter_Options_for_the_CSV_Filter
 */
export function loadOptions({ batch, separator }: { batch: boolean; separator: string | undefined }): string {
  // Without `Batch`, LibreOffice waits forever for a dialog about a damaged document.
  const general = batch ? ['Batch=true'] : [];
  if (separator === undefined) return general.join(',');
  // Separator, quote, encoding, first line, column formats, language, quoted cells can be numbers, detect only plain
  // numbers and ISO dates (the default of soffice), four options for writing, and formulas stay text.
  const reading = [
    separator.charCodeAt(0),
    QUOTE,
    UTF_8,
    1,
    '',
    0,
    false,
    false,
    false,
    false,
    false,
    0,
    false,
  ];
  return [...reading, ...general].join(',');
}
