import { ConversionError } from '../errors.ts';

/** The content of a `data:` URL. */
interface DataUrl {
  /** Media type in lower case, without parameters. Defaults to `text/plain`. */
  readonly contentType: string;
  readonly content: Buffer;
}

/** Maximum number of characters before the comma. */
const MAX_HEAD = 500;
const [SPACE, PERCENT, PLUS] = [0x20, 0x25, 0x2b];
/** Both alphabets, and white space, as browsers accept it. */
const BASE64 = /^[\w+/\-\s]*=*\s*$/;

/**
 * Decodes the data URL of a parameter. This blocks the main thread for a few milliseconds per megabyte.
 * @throws ConversionError `BAD_ADDRESS`, `CORRUPT_SOURCE`
 */
export function readDataUrl(url: string, parameter = 'infile'): DataUrl {
  const head = headOf(url, parameter);
  const parameters = head.toLowerCase().split(';').slice(1);
  const isBase64 = parameters.some((parameter) => parameter.trim() === 'base64');
  const bytes = unescapePercent(Buffer.from(url.slice(head.length + 1)));
  const content = isBase64 ? decodeBase64(bytes, parameter) : bytes;
  if (content.length === 0) {
    const what = parameter === 'infile' ? 'The source' : `The file for '${parameter}'`;
    throw new ConversionError('CORRUPT_SOURCE', `${what} is empty.`, { parameter });
  }
  return { contentType: typeOfDataUrl(url, parameter), content };
}

/** Returns the media type of a data URL. Its content is not decoded. @throws ConversionError `BAD_ADDRESS` */
export function typeOfDataUrl(url: string, parameter = 'infile'): string {
  const [type = ''] = headOf(url, parameter).slice('data:'.length).toLowerCase().split(';');
  return type.trim() || 'text/plain';
}

/** Returns the media type of a text that is HTML or SVG, or `undefined` for other values such as URLs. */
export function typeOfMarkup(text: string): string | undefined {
  const start = text.slice(0, MAX_HEAD).trimStart();
  if (!start.startsWith('<')) return undefined;
  return /^(<\?xml[^>]*>\s*)?<svg[\s>]/.test(start) ? 'image/svg+xml' : 'text/html';
}

/** Returns HTML or SVG that declares no other encoding than that of a text that is sent. */
export function asUtf8(markup: string): string {
  const declared = /(<meta\b[^>]*?\bcharset\s*=\s*["']?|^\s*<\?xml\b[^>]*?\bencoding\s*=\s*["'])[\w:.-]+/gi;
  return markup.replace(declared, '$1utf-8');
}

/** Returns the part before the comma. */
function headOf(url: string, parameter = 'infile'): string {
  const comma = url.slice(0, MAX_HEAD).indexOf(',');
  if (comma >= 0) return url.slice(0, comma);
  const message = `Parameter '${parameter}' must be a data URL such as data:text/html,<p>Hello, with a comma.`;
  throw new ConversionError('BAD_ADDRESS', message, { parameter });
}

/** Decodes `%XX` in place, to bytes that need not be UTF-8. */
export function unescapePercent(bytes: Buffer): Buffer {
  let end = bytes.indexOf(PERCENT);
  if (end < 0) return bytes;
  for (let at = end; at < bytes.length; at++) {
    const first = bytes[at] === PERCENT ? digitOf(bytes[at + 1]) : -1;
    const value = first < 0 ? -1 : (first << 4) | digitOf(bytes[at + 2]);
    bytes[end++] = value < 0 ? bytes[at]! : value;
    if (value >= 0) at += 2;
  }
  return bytes.subarray(0, end);
}

/** Returns the value of a hexadecimal digit, or -1. */
function digitOf(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const letter = code | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

function decodeBase64(bytes: Buffer, parameter: string): Buffer {
  // In a query that was not encoded, each `+` has become a space.
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === SPACE) bytes[at] = PLUS;
  const text = bytes.toString('latin1');
  // Node ignores other characters, and takes five times as long.
  if (!BASE64.test(text)) {
    throw new ConversionError('BAD_ADDRESS', `The data URL of '${parameter}' is not valid base64.`, {
      parameter,
    });
  }
  return Buffer.from(text, 'base64');
}
