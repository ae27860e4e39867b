import { ConversionError } from '../../shared/errors.ts';
import type { Kind } from '../tool.ts';
import { scanArchive } from './archive.ts';
import type { Recognized } from './recognized.ts';

/** Content types of the main part, by the word in the middle; templates, shows and documents with macros are taken too. */
const MAIN_PARTS: ReadonlyArray<readonly [Kind, RegExp]> = [
  [
    'docx',
    /ContentType\s*=\s*["']application\/vnd\.(openxmlformats-officedocument\.wordprocessingml|ms-word)\.[\w.]*main\+xml["']/i,
  ],
  [
    'xlsx',
    /ContentType\s*=\s*["']application\/vnd\.(openxmlformats-officedocument\.spreadsheetml|ms-excel)\.[\w.]*main(\+xml)?["']/i,
  ],
  [
    'pptx',
    /ContentType\s*=\s*["']application\/vnd\.(openxmlformats-officedocument\.presentationml|ms-powerpoint)\.[\w.]*main\+xml["']/i,
  ],
];

const ODF: Readonly<Record<string, Kind>> = {
  'application/vnd.oasis.opendocument.text': 'odt',
  'application/vnd.oasis.opendocument.spreadsheet': 'ods',
  'application/vnd.oasis.opendocument.presentation': 'odp',
};

/** How DOCTYPE looks in the encodings that XML parsers guess by themselves. */
const DOCTYPES = ['utf8', 'utf16le'].map((encoding) => Buffer.from('<!DOCTYPE', encoding as BufferEncoding));
const OVERLAP = 2 * '<!DOCTYPE'.length;
/** Of parts that are read as a whole. */
const MAX_TEXT = 4_000_000;

/** Answers what an archive is by its main part, after all of it was inflated once; `undefined`: no office document. */
export async function recognizeArchive(bytes: Buffer): Promise<Recognized | undefined> {
  const texts = new Map<string, string>();
  let last = { name: '', tail: Buffer.alloc(0) };
  let declaresType = false;
  await scanArchive(bytes, (name, piece) => {
    if (name === '[Content_Types].xml' || name === 'mimetype' || name === 'META-INF/manifest.xml') {
      texts.set(name, ((texts.get(name) ?? '') + piece.toString()).slice(0, MAX_TEXT));
    }
    if (!/\.(xml|rels|vml)$/i.test(name)) return;
    const joined = last.name === name ? Buffer.concat([last.tail, piece]) : piece;
    declaresType ||= DOCTYPES.some((pattern) => joined.includes(pattern));
    last = { name, tail: Buffer.from(joined.subarray(-OVERLAP)) };
  });

  const openDocument = ODF[texts.get('mimetype')?.trim() ?? ''];
  if (openDocument) {
    const encrypted = /encryption-data/.test(texts.get('META-INF/manifest.xml') ?? '');
    return { kind: openDocument, encrypted };
  }
  const types = texts.get('[Content_Types].xml') ?? '';
  const kind = MAIN_PARTS.find(([, pattern]) => pattern.test(types))?.[0];
  if (kind && declaresType) {
    throw new ConversionError(
      'CORRUPT_SOURCE',
      'The document declares a document type, which office documents must not.',
    );
  }
  return kind && { kind, encrypted: false };
}
