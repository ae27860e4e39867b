import { ConversionError } from '../errors.ts';

/** The tools that read each kind of file, the best one first. */
export const READERS = {
  page: ['html2pdf', 'html2image', 'doc2any'],
  drawing: ['imageproc', 'html2pdf'],
  email: [],
  pdf: ['pdftools'],
  document: ['doc2any'],
  image: ['imageproc'],
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** A kind of file. */
interface FileKind {
  readonly plural: string;
  readonly readers: readonly string[];
  /** Whether a file begins like this. The first kilobyte has one character for each byte. */
  readonly begins: (head: string) => boolean;
  /** Whether a browser that took such a file for text shows this as its beginning. */
  readonly isShownAs?: (text: string) => boolean;
  readonly mediaType?: RegExp;
}

/** Number of bytes that decide about the kind of a file. */
export const HEAD_BYTES = 1024;

/** Beginnings of compound files, in which old Office documents are, and of archives. */
const COMPOUND = '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1';
const ARCHIVE = 'PK\x03\x04';
/** Beginnings of compound files in other encodings: each byte that is not UTF-8 becomes U+FFFD. */
const SHOWN_COMPOUNDS = ['\xd0\xcf\x11\xe0', '\ufffd\ufffd\x11'];
const IMAGES = ['\xff\xd8\xff', '\x89PNG\r\n', 'GIF87a', 'GIF89a', 'II*\0', 'MM\0*', '8BPS'];

/** Header fields up to one that only mails and archives of pages (MHTML) have. A mailbox has a line before them. */
const MAIL =
  /^(From [^\n]*\n)?([!-9;-~]+:[^\n]*\n([ \t][^\n]*\n)*)*(MIME-Version: *1\.0|Delivered-To:|Return-Path: *<|Received: *(from|by) )/i;

const startsWithAny = (text: string, starts: readonly string[]) =>
  starts.some((start) => text.startsWith(start));

const KINDS: readonly FileKind[] = [
  // Before PDF, whose signature a page may contain as text.
  {
    plural: 'web pages',
    readers: READERS.page,
    begins: (head) => /^\s*<(!doctype html|html|head|body)\b/i.test(head),
  },
  // Before the kinds of files that a mail may contain as text.
  {
    plural: 'emails',
    readers: READERS.email,
    begins: (head) => MAIL.test(head),
  },
  {
    plural: 'PDF documents',
    readers: READERS.pdf,
    // Programs open documents that lack this line, too.
    begins: (head) => head.includes('%PDF-') || /^(%.*\s+)?\d+ \d+ obj\s/.test(head),
    isShownAs: (text) => /^\s*%PDF-\d/.test(text),
    mediaType: /^application\/(x-)?pdf$/,
  },
  {
    plural: 'Office documents',
    readers: READERS.document,
    begins: (head) =>
      startsWithAny(head, [COMPOUND, '{\\rtf']) ||
      (head.startsWith(ARCHIVE) &&
        /\[Content_Types\]|_rels\/|docProps\/|^[\s\S]{30}(word|xl|ppt)\/|mimetypeapplication\/vnd/.test(
          head,
        )),
    isShownAs: (text) => startsWithAny(text, [...SHOWN_COMPOUNDS, '{\\rtf', ARCHIVE]),
    mediaType: /^application\/(msword|rtf|vnd\.(ms-|openxmlformats|oasis)[\w.+-]*)$|^text\/rtf$/,
  },
  {
    plural: 'images',
    readers: READERS.image,
    begins: (head) =>
      startsWithAny(head, IMAGES) ||
      (head.startsWith('RIFF') && head.startsWith('WEBP', 8)) ||
      /^ftyp(avif|avis|heic|heix|mif1)/.test(head.slice(4)),
    mediaType: /^image\//,
  },
];

/** Returns the kind of a file by its first bytes as Latin-1, or `undefined` if it is not known. */
export function kindOfBytes(head: string): FileKind | undefined {
  return KINDS.find(({ begins }) => begins(head));
}

/** Returns the kind of a file whose beginning a browser shows as text. */
export function kindOfText(start: string): FileKind | undefined {
  return KINDS.find(({ isShownAs }) => isShownAs?.(start));
}

/** Returns the kind of a file by its media type. */
export function kindOfType(mediaType: string): FileKind | undefined {
  return KINDS.find((kind) => kind.mediaType?.test(mediaType));
}

/** Returns the error for a file that a tool for web pages was given. */
export function notAPageError(kind: FileKind): ConversionError {
  return new ConversionError('UNSUPPORTED_SOURCE', `The source is not a web page. ${toolHint(kind)}`);
}

/** Returns a sentence that names the tool for a kind of file, or says that there is none. */
export function toolHint({ plural, readers: [tool] }: FileKind): string {
  return tool ? `Use app=${tool} for ${plural}.` : `No tool converts ${plural}.`;
}

/** The facts about a source that decide which tool reads it. */
export interface SourceFacts {
  /** The first bytes as Latin-1, at most `HEAD_BYTES` of them. Empty if they are compressed. */
  readonly head: string;
  /** File name. May be empty. */
  readonly name: string;
  /** Media type in lower case, without parameters. May be empty. */
  readonly contentType: string;
}

/** Reads the facts about a source without downloading all of it; see `createReadFacts`. */
export type ReadFacts = (
  url: string,
  options: { readonly signal: AbortSignal; readonly account: string },
) => Promise<SourceFacts>;

/**
 * Whether a page declares its encoding. Without a declaration, browsers assume Windows-1252, but most pages are in
 * UTF-8.
 */
export function declaresEncoding(head: string): boolean {
  return /^(\xef\xbb\xbf|\xfe\xff|\xff\xfe)|<meta[^>]{1,200}charset|^<\?xml[^>]{1,200}encoding/i.test(head);
}
