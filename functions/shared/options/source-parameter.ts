import { ConversionError } from '../errors.ts';
import { quote } from '../quote.ts';
import { checkDataUrl } from '../source/data-url.ts';
import { isUploadId, readUrl, URL_RULE } from './option.ts';

/** Matches spellings that people use for local files. */
const FILE_NAME = /^(@|file:|~?\/(?!\/)|\.{1,2}[/\\]|[a-z]:\\)|^[^:/?#]+\.[a-z0-9]{2,5}$/i;

/**
 * Reads the `infile` of a caller who can also send files. Returns a `data:` URL or `upload:ID` unchanged.
 * @throws ConversionError `BAD_ADDRESS`.
 */
export function readSource(text: string): string {
  if (/^data:/i.test(text)) {
    checkDataUrl(text);
    return text;
  }
  if (text.startsWith('upload:') && isUploadId(text.slice('upload:'.length))) return text;
  if (!FILE_NAME.test(text)) return readSourceUrl(text);
  const file = quote(text);
  throw new ConversionError(
    'BAD_ADDRESS',
    `Parameter 'infile' must be a URL, got the file name ${file}. Send the file itself with 'curl -F infile=@FILE -F app=… -F outfile=…'.`,
  );
}

/**
 * Reads `infile` as a normalized URL.
 * @throws ConversionError `BAD_ADDRESS`.
 */
export function readSourceUrl(text: string): string {
  const url = readUrl(text);
  if (url !== undefined) return url;
  throw new ConversionError('BAD_ADDRESS', `Parameter 'infile' must be ${URL_RULE}, got ${quote(text)}.`);
}
