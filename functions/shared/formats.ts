import { ConversionError } from './errors.ts';
import { formatNamed } from './extensions.ts';
import type { Size } from './options/geometry.ts';

interface FormatFacts {
  readonly contentType: string;
  /** Whether a file that starts with these 16 bytes has this format. */
  readonly matches: (head: Buffer) => boolean;
  /** Maximum width and height in pixels. Only images have one. */
  readonly maxSide?: number;
}

const starts = (...signatures: readonly string[]) => {
  const bytes = signatures.map((signature) => Buffer.from(signature, 'latin1'));
  return (head: Buffer) => bytes.some((signature) => head.subarray(0, signature.length).equals(signature));
};

const OPEN_XML = 'application/vnd.openxmlformats-officedocument';
const OPEN_DOCUMENT = 'application/vnd.oasis.opendocument';
const archive = (contentType: string): FormatFacts => ({ contentType, matches: starts('PK\x03\x04') });

/** Whether bytes can be the start of a text in any encoding: no zeros, except in UTF-16. */
function isText(head: Buffer): boolean {
  const text = head.toString('latin1').replace(/\0+$/, '');
  return /^(\xff\xfe|\xfe\xff)/.test(text) || !text.includes('\0');
}

/** Media type, signature and limits of each output format. */
const TABLE = {
  jpg: { contentType: 'image/jpeg', matches: starts('\xff\xd8\xff'), maxSide: 65_535 },
  png: { contentType: 'image/png', matches: starts('\x89PNG\r\n\x1a\n'), maxSide: 1_000_000 },
  webp: {
    contentType: 'image/webp',
    matches: (head) => head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP',
    maxSide: 16_383,
  },
  avif: {
    contentType: 'image/avif',
    matches: (head) => head.toString('latin1', 4, 8) === 'ftyp',
    maxSide: 16_384,
  },
  gif: { contentType: 'image/gif', matches: starts('GIF87a', 'GIF89a'), maxSide: 65_535 },
  tiff: { contentType: 'image/tiff', matches: starts('II*\0', 'MM\0*'), maxSide: 1_000_000 },
  bmp: { contentType: 'image/bmp', matches: starts('BM'), maxSide: 1_000_000 },
  ico: { contentType: 'image/vnd.microsoft.icon', matches: starts('\0\0\x01\0'), maxSide: 256 },
  pdf: { contentType: 'application/pdf', matches: starts('%PDF-') },
  txt: { contentType: 'text/plain; charset=utf-8', matches: isText },
  docx: archive(`${OPEN_XML}.wordprocessingml.document`),
  xlsx: archive(`${OPEN_XML}.spreadsheetml.sheet`),
  pptx: archive(`${OPEN_XML}.presentationml.presentation`),
  odt: archive(`${OPEN_DOCUMENT}.text`),
  ods: archive(`${OPEN_DOCUMENT}.spreadsheet`),
  odp: archive(`${OPEN_DOCUMENT}.presentation`),
  rtf: { contentType: 'application/rtf', matches: starts('{\\rtf') },
  html: {
    contentType: 'text/html; charset=utf-8',
    matches: (head) => /^<!doctype html/i.test(head.toString('latin1')),
  },
  zip: archive('application/zip'),
  // The service's JSON is indented.
  json: { contentType: 'application/json', matches: starts('{\n') },
  // The caller chooses the encoding.
  csv: { contentType: 'text/csv', matches: isText },
} as const satisfies Readonly<Record<string, FormatFacts>>;

/** An output format, named by its usual extension. */
export type Format = keyof typeof TABLE;

export const FORMATS: Readonly<Record<Format, FormatFacts>> = TABLE;

/** Formats whose files are images. */
export const IMAGES = (Object.keys(TABLE) as Format[]).filter(
  (format) => FORMATS[format].maxSide !== undefined,
);

/** Limits of an image's size: a maximum of pixels, the limits of a format, or both. */
interface ImageBounds {
  readonly maxPixels?: number;
  readonly format?: Format;
  /** Description of the image for the message. */
  readonly what?: string;
}

/** @throws ConversionError `RESULT_TOO_LARGE` for an image that the limit or its format does not allow. */
export function checkImageSize(
  { width, height }: Size,
  { maxPixels = Number.POSITIVE_INFINITY, format, what = 'The image' }: ImageBounds,
): void {
  const size = `${what} would be ${width}x${height} pixels`;
  if (width * height > maxPixels) {
    throw new ConversionError('RESULT_TOO_LARGE', `${size}. The maximum is ${maxPixels} pixels in total.`);
  }
  const longest = format && FORMATS[format].maxSide;
  if (longest !== undefined && Math.max(width, height) > longest) {
    const message = `${size}. The maximum for ${format} is ${longest} pixels per side.`;
    throw new ConversionError('RESULT_TOO_LARGE', message);
  }
}

/**
 * Returns the content disposition of stored files. Browsers save HTML instead of showing it, because it may contain
 * scripts.
 */
export function dispositionOf(contentType: string): 'inline' | 'attachment' {
  return contentType.startsWith('text/html') ? 'attachment' : 'inline';
}

/** Returns the format of an extension without its dot, in any case, or `undefined` if there is none. */
export function readFormat(extension: string): Format | undefined {
  const name = formatNamed(extension);
  return Object.hasOwn(FORMATS, name) ? (name as Format) : undefined;
}
