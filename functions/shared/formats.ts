import type { Format } from './tool.ts';

interface FormatFacts {
  readonly contentType: string;
  /** Whether a file's first 16 bytes are of this format. */
  readonly matches: (head: Buffer) => boolean;
}

const starts = (...signatures: readonly string[]) => {
  const bytes = signatures.map((signature) => Buffer.from(signature, 'latin1'));
  return (head: Buffer) => bytes.some((signature) => head.subarray(0, signature.length).equals(signature));
};

/** What each output format looks like on the wire and in its first bytes. */
export const FORMATS: Readonly<Record<Format, FormatFacts>> = {
  jpg: { contentType: 'image/jpeg', matches: starts('\xff\xd8\xff') },
  png: { contentType: 'image/png', matches: starts('\x89PNG\r\n\x1a\n') },
  webp: {
    contentType: 'image/webp',
    matches: (head) => head.toString('latin1', 0, 4) === 'RIFF' && head.toString('latin1', 8, 12) === 'WEBP',
  },
  avif: { contentType: 'image/avif', matches: (head) => head.toString('latin1', 4, 8) === 'ftyp' },
  gif: { contentType: 'image/gif', matches: starts('GIF87a', 'GIF89a') },
  tiff: { contentType: 'image/tiff', matches: starts('II*\0', 'MM\0*') },
  pdf: { contentType: 'application/pdf', matches: starts('%PDF-') },
};

const SYNONYMS: Readonly<Record<string, Format>> = { jpeg: 'jpg', tif: 'tiff' };

/** Reads an extension without its dot, in any case; answers `undefined` for what we do not write. */
export function readFormat(extension: string): Format | undefined {
  const lower = extension.toLowerCase();
  if (Object.hasOwn(SYNONYMS, lower)) return SYNONYMS[lower];
  return Object.hasOwn(FORMATS, lower) ? (lower as Format) : undefined;
}
