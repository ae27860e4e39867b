import { ConversionError, emptySourceError } from '../../../shared/errors.ts';
import { type Claims, type Input, type Recognized, readInput } from '../inputs.ts';
import { isArchive } from './archive.ts';
import { recognizeArchive } from './archive-document.ts';
import { isWordPerfect4, recognizeBinary, recognizeStream } from './binary-document.ts';
import { isCompoundFile } from './compound-file.ts';
import { decodeText, detectEncoding, UTF_32 } from './encoding.ts';
import { PLAIN, recognizeText } from './text-document.ts';

/** A recognized document, with its text unless it has a binary format. */
interface Document extends Recognized {
  readonly text?: string;
}

/**
 * Recognizes a document by its bytes: which module opens it, and whether it is dangerous. LibreOffice decides whether
 * it is damaged or too old.
 * @throws ConversionError `UNSUPPORTED_SOURCE`, `CORRUPT_SOURCE`, `SOURCE_TOO_LARGE`.
 */
export async function recognize(bytes: Buffer, claims: Claims, encoding?: string): Promise<Document> {
  if (bytes.length === 0) throw emptySourceError();
  const found = await byContent(bytes, claimOf(claims), encoding);
  if (found) return found;
  throw new ConversionError(
    'UNSUPPORTED_SOURCE',
    'The source is not a document that can be converted. See the in_ext option for the supported formats.',
  );
}

/** Formats that a WordPerfect 4 document may claim. */
const OLD_TEXTS: ReadonlySet<Input> = new Set(['wpd', 'doc']);

async function byContent(
  bytes: Buffer,
  claim: Input | undefined,
  encoding: string | undefined,
): Promise<Document | undefined> {
  if (bytes.toString('latin1', 0, 5) === '{\\rtf') return { kind: 'rtf', encrypted: false };
  if (isArchive(bytes)) return recognizeArchive(bytes, claim);
  if (isCompoundFile(bytes)) return recognizeBinary(bytes, claim);
  const stream = recognizeStream(bytes);
  if (stream) return stream;
  const used = encoding ?? detectEncoding(bytes);
  const text = decodeText(bytes, used);
  const found = recognizeText(text, claim);
  // Plain text is rewritten as UTF-8.
  if (found && UTF_32.includes(used) && !PLAIN.has(found.kind)) return undefined;
  if (found) return { ...found, text };
  return claim && OLD_TEXTS.has(claim) && isWordPerfect4(bytes)
    ? { kind: 'wpd', encrypted: false }
    : undefined;
}

const TEXT_TYPES: Readonly<Record<string, Input>> = {
  'text/csv': 'csv',
  'text/tab-separated-values': 'tsv',
  'text/plain': 'txt',
  'text/html': 'html',
  'application/msword': 'doc',
  'application/rtf': 'rtf',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
};

function claimOf({ declared, name, contentType }: Claims): Input | undefined {
  return declared ?? readInput(/\.(\w{2,7})$/.exec(name)?.[1] ?? '') ?? TEXT_TYPES[contentType];
}
