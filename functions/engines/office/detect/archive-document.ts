import { ConversionError } from '../../../shared/errors.ts';
import { INPUTS, type Input, type Recognized } from '../inputs.ts';
import { scanArchive } from './archive.ts';

/**
 * Office Open XML, one row per module: the extensions that may be claimed, the content type of the main part, and its
 * folder.
 */
const OPEN_XML = [
  {
    kinds: ['docx', 'dotx', 'docm', 'dotm'],
    type: /application\/vnd\.(openxmlformats-officedocument\.wordprocessingml|ms-word)\.[\w.]*main/i,
    folder: /^word\//i,
  },
  {
    kinds: ['xlsx', 'xltx', 'xlsm', 'xltm', 'xlsb'],
    type: /application\/vnd\.(openxmlformats-officedocument\.spreadsheetml|ms-excel)\.[\w.]*main/i,
    folder: /^xl\//i,
  },
  {
    kinds: ['pptx', 'potx', 'ppsx', 'pptm', 'potm', 'ppsm'],
    type: /application\/vnd\.(openxmlformats-officedocument\.presentationml|ms-powerpoint)\.[\w.]*main/i,
    folder: /^ppt\//i,
  },
  { kinds: ['vsdx'], type: /application\/vnd\.ms-visio\.[\w.]*main/i, folder: /^visio\//i },
] as const satisfies ReadonlyArray<{ kinds: readonly Input[]; type: RegExp; folder: RegExp }>;

/** Media types of OpenDocument and OpenOffice.org 1, templates included. */
const OPEN_DOCUMENT: ReadonlyArray<readonly [RegExp, readonly Input[]]> = [
  [/vnd\.oasis\.opendocument\.text/, ['odt', 'ott']],
  [/vnd\.oasis\.opendocument\.spreadsheet/, ['ods', 'ots']],
  [/vnd\.oasis\.opendocument\.presentation/, ['odp', 'otp']],
  [/vnd\.oasis\.opendocument\.graphics/, ['odg']],
  [/vnd\.sun\.xml\.writer/, ['sxw']],
  [/vnd\.sun\.xml\.calc/, ['sxc']],
  [/vnd\.sun\.xml\.impress/, ['sxi']],
  [/vnd\.sun\.xml\.draw/, ['sxd']],
];

/** Parts of iWork documents. The first pattern matches newer versions. */
const IWORK = /^index(\/.*\.iwa|\.zip|\.(apxl|xml)(\.gz)?)$/;
const IWORK_KINDS = ['pages', 'numbers', 'key'] as const satisfies readonly Input[];

/** Parts that identify a document. Their names are case-insensitive. */
const TELLING = new Set(['[content_types].xml', 'mimetype', 'meta-inf/manifest.xml']);
/** Maximum characters of such a part that are examined. */
const MAX_TEXT = 4_000_000;

/** DOCTYPE in the encodings that XML parsers detect by themselves. */
const DOCTYPES = (['utf8', 'utf16le'] as const).map((encoding) => Buffer.from('<!DOCTYPE', encoding));
const OVERLAP = 2 * '<!DOCTYPE'.length;

/**
 * Recognizes an archive by its main part, after inflating all of it once. If an archive has no such part, its kind is the
 * claimed one. Returns `undefined` if it is not an office document.
 * @throws ConversionError `SOURCE_TOO_LARGE` for an archive bomb, `CORRUPT_SOURCE` for Office Open XML with a document type.
 */
export async function recognizeArchive(
  bytes: Buffer,
  claim: Input | undefined,
): Promise<Recognized | undefined> {
  const texts = new Map<string, string>();
  const names = new Set<string>();
  const doctype = createDoctypeScan();
  await scanArchive(bytes, (name, piece) => {
    const lower = name.toLowerCase();
    names.add(lower);
    const text = texts.get(lower) ?? '';
    if (TELLING.has(lower) && text.length < MAX_TEXT) texts.set(lower, text + piece.toString());
    // Custom XML is data of other programs: LibreOffice does not parse it.
    if (/\.(xml|rels|vml)$/.test(lower) && !lower.startsWith('customxml/')) doctype.see(name, piece);
  });

  const manifest = texts.get('meta-inf/manifest.xml') ?? '';
  const type =
    texts.get('mimetype')?.slice(0, 200) ?? /<[^>]*full-path\s*=\s*"\/"[^>]*>/.exec(manifest)?.[0] ?? '';
  const openDocument = OPEN_DOCUMENT.find(([pattern]) => pattern.test(type))?.[1];
  if (openDocument) {
    return { kind: pick(openDocument, claim), encrypted: manifest.includes('encryption-data') };
  }
  const types = texts.get('[content_types].xml') ?? '';
  const openXml =
    OPEN_XML.find((row) => row.type.test(types)) ??
    OPEN_XML.find((row) => [...names].some((name) => row.folder.test(name)));
  if (openXml && doctype.found()) {
    throw new ConversionError(
      'CORRUPT_SOURCE',
      'The document contains a DOCTYPE declaration, which Office Open XML does not allow.',
    );
  }
  if (openXml) return { kind: pick(openXml.kinds, claim), encrypted: false };
  if ([...names].some((name) => IWORK.test(name)))
    return { kind: pick(IWORK_KINDS, claim ?? iworkKind(names)), encrypted: false };
  const isPackage = names.size === 0 || names.has('content.xml') || names.has('[content_types].xml');
  return isPackage && claim && isArchived(claim) ? { kind: claim, encrypted: false } : undefined;
}

/** Distinguishes Apple iWork documents by parts that only one application writes. */
function iworkKind(names: ReadonlySet<string>): Input {
  if ([...names].some((name) => /^index\/(master)?slide|^index\.apxl/.test(name))) return 'key';
  return [...names].some((name) => /^index\/.*sheet/.test(name)) ? 'numbers' : 'pages';
}

function pick(kinds: readonly Input[], claim: Input | undefined): Input {
  return kinds.find((kind) => kind === claim) ?? kinds[0]!;
}

function isArchived(kind: Input): boolean {
  return /^(doc|dot|xls|xlt|ppt|pot|pps)[xmb]$|^(o[dt][a-z]|sx[a-z])$/.test(kind) && kind in INPUTS;
}

/** Searches the pieces of a part for a DOCTYPE declaration, which may be split between two pieces. */
function createDoctypeScan() {
  let last = { name: '', tail: Buffer.alloc(0) };
  let found = false;
  return {
    see(name: string, piece: Buffer): void {
      const joined = last.name === name ? Buffer.concat([last.tail, piece]) : piece;
      found ||= DOCTYPES.some((pattern) => joined.includes(pattern));
      last = { name, tail: Buffer.from(joined.subarray(-OVERLAP)) };
    },
    found: () => found,
  };
}
