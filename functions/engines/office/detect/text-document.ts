import { ConversionError } from '../../../shared/errors.ts';
import { INPUTS, type Input, type Recognized } from '../inputs.ts';

/** Number of characters at the start that are examined. */
const HEAD = 65_536;

/** Formats of text without markup. A source of only white space may also claim them. */
export const PLAIN: ReadonlySet<Input> = new Set(['txt', 'csv', 'tsv']);

/** The start of PDF and PostScript, which a printer's commands may precede. */
const PRINTED = /^(%PDF-|\p{Cc}?%!PS|\p{Cc}%-12345X)/u;

/** Flat OpenDocument, by the last word of its media type. */
const FLAT: Readonly<Record<string, Input>> = {
  text: 'fodt',
  spreadsheet: 'fods',
  presentation: 'fodp',
  graphics: 'fodg',
};

/**
 * Recognizes markup and plain text. Markup may refer to other files, but needs no check, because LibreOffice has no
 * network, can open no other files, and its profile blocks links.
 * @throws ConversionError `CORRUPT_SOURCE` for XML that declares entities.
 */
export function recognizeText(text: string, claim: Input | undefined): Recognized | undefined {
  const whole = text.trimStart();
  const head = whole.slice(0, HEAD);
  if (head === '' && !(claim && PLAIN.has(claim))) return undefined;
  if (isBinary(head) || PRINTED.test(head) || (claim !== 'txt' && isMail(head))) return undefined;
  const markup = markupKind(whole, claim);
  return markup === null ? undefined : { kind: markup ?? plainKind(claim), encrypted: false };
}

/** Whether a text begins with the headers of an email or of a saved web page. */
function isMail(text: string): boolean {
  const header = text.slice(0, /\r?\n\r?\n/.exec(text)?.index);
  if (!/^([A-Za-z][\w-]*:.*(\r?\n[ \t].*)*(\r?\n|$))+$/.test(header)) return false;
  const fields = [
    'from',
    'to',
    'subject',
    'date',
    'mime-version',
    'content-type',
    'message-id',
    'received',
    'return-path',
  ];
  return fields.filter((field) => new RegExp(`^${field}:`, 'im').test(header)).length >= 3;
}

/** Returns the kind of markup, `undefined` for plain text, and `null` for markup of images. */
function markupKind(text: string, claim: Input | undefined): Input | undefined | null {
  if (!text.startsWith('<')) {
    return /<(!doctype html|html|body)[\s>]/i.test(text.slice(0, HEAD)) ? htmlKind(claim) : undefined;
  }
  const root = findRoot(text);
  const prolog = text.slice(0, root?.at);
  if (prolog.includes('<!ENTITY')) {
    throw new ConversionError('CORRUPT_SOURCE', 'The document declares XML entities, which is not allowed.');
  }
  if (!root) return undefined;
  const isXml = prolog.startsWith('<?xml');
  const name = root.name.replace(/^.*:/, '').toLowerCase();
  if (name === 'svg') return null;
  if (name === 'document' && root.name.includes(':')) {
    const type = /mimetype\s*=\s*["'][^"']*opendocument\.(\w+)/.exec(text.slice(root.at, root.at + HEAD));
    return FLAT[type?.[1] ?? ''] ?? 'fodt';
  }
  if (name === 'workbook') return 'xls';
  if (name === 'worddocument') return 'doc';
  return isXml && name !== 'html' ? 'xml' : htmlKind(claim);
}

/** Finds the first element, after declarations, comments and processing instructions. Returns `undefined` for text. */
function findRoot(text: string): { readonly name: string; readonly at: number } | undefined {
  const space = /\s*/y;
  const element = /<([A-Za-z_][\w.:-]{0,100})/y;
  for (let at = 0; at < text.length; ) {
    space.lastIndex = at;
    at += space.exec(text)![0].length;
    element.lastIndex = at;
    const name = element.exec(text)?.[1];
    if (name !== undefined) return { name, at };
    const end = text.startsWith('<!--', at) ? '-->' : text.startsWith('<?', at) ? '?>' : '>';
    const close = text.startsWith('<', at) ? text.indexOf(end, at + 2) : -1;
    if (close < 0) return undefined;
    at = close + end.length;
  }
  return undefined;
}

/**
 * Returns the kind of HTML. It opens in Calc if it claims to be a spreadsheet, because web applications export HTML
 * tables as Excel files.
 */
function htmlKind(claim: Input | undefined): Input {
  return claim && INPUTS[claim] === 'calc' ? 'xls' : 'html';
}

function plainKind(claim: Input | undefined): Input {
  if (claim === 'tsv') return 'tsv';
  return claim && INPUTS[claim] === 'calc' ? 'csv' : 'txt';
}

/** Whether text contains characters that are unusual in text: a zero, or more than a few control characters. */
function isBinary(text: string): boolean {
  let controls = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0) return true;
    if (code < 0x20 && !(code >= 0x07 && code <= 0x0d) && code !== 0x1a && code !== 0x1b) controls += 1;
  }
  return controls > text.length / 200;
}
