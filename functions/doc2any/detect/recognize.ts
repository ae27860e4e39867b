import { ConversionError } from '../../shared/errors.ts';
import { KINDS, type Kind } from '../tool.ts';
import { isArchive } from './archive.ts';
import { recognizeArchive } from './archive-document.ts';
import { recognizeBinary } from './binary-document.ts';
import { isCompoundFile } from './compound-file.ts';
import type { Recognized } from './recognized.ts';

/** What the caller and the source's server say of it: believed only where the bytes do not tell. */
export interface Claims {
  readonly declared: Kind | undefined;
  readonly name: string;
  readonly contentType: string;
}

/**
 * Recognizes an office document by its bytes: LibreOffice would open HTML, SVG or flat XML under any name, and fetch
 * what they point to.
 * @throws ConversionError `UNSUPPORTED_SOURCE`, `CORRUPT_SOURCE`, `SOURCE_TOO_LARGE`.
 */
export async function recognize(bytes: Buffer, claims: Claims): Promise<Recognized> {
  if (bytes.length === 0) throw new ConversionError('CORRUPT_SOURCE', 'The source is empty.');
  const found = (await byBytes(bytes)) ?? asText(bytes, claims);
  if (found) return found;
  throw new ConversionError(
    'UNSUPPORTED_SOURCE',
    `The source is none of the documents that can be converted: ${KINDS.join(', ')}.`,
  );
}

async function byBytes(bytes: Buffer): Promise<Recognized | undefined> {
  if (bytes.toString('latin1', 0, 5) === '{\\rtf') return { kind: 'rtf', encrypted: false };
  if (isArchive(bytes)) return recognizeArchive(bytes);
  if (!isCompoundFile(bytes)) return undefined;
  try {
    return recognizeBinary(bytes);
  } catch (cause) {
    throw new ConversionError('CORRUPT_SOURCE', 'The document is damaged: its container is not whole.', {
      cause,
    });
  }
}

const TEXT_TYPES: Readonly<Record<string, Kind>> = { 'text/csv': 'csv', 'text/plain': 'txt' };

/** Plain text has no signature: it is what is called so, is whole UTF-8 or one byte a character, and holds no markup. */
function asText(bytes: Buffer, { declared, name, contentType }: Claims): Recognized | undefined {
  const ending = /\.(csv|txt)$/i.exec(name)?.[1]?.toLowerCase() as Kind | undefined;
  const kind = declared ?? ending ?? TEXT_TYPES[contentType];
  if (kind !== 'csv' && kind !== 'txt') return undefined;
  const head = bytes.toString('latin1', 0, 65_536);
  // LibreOffice itself looks for markup in text, so what could pass for it is refused, wherever it begins.
  const markup =
    /^[\s\xef\xbb\xbf]*[<%{]|<(!doctype|html|head|body|svg|meta|script|\?xml)|^mime-version:|^from - /im;
  return isBinary(head) || markup.test(head) ? undefined : { kind, encrypted: false };
}

/** Whether there is a control character that no text has: all but tab, line ends, form feed, end of file and escape. */
function isBinary(text: string): boolean {
  const allowed = '\t\n\f\r\x1a\x1b';
  return /\p{Cc}/u.test(text.replace(/[\x80-\x9f]/g, '').replace(new RegExp(`[${allowed}]`, 'g'), ''));
}
