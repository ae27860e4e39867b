import { ConversionError } from '../../../shared/errors.ts';
import { INPUTS, type Input, type Recognized } from '../inputs.ts';
import { CompoundFile } from './compound-file.ts';

const WORD: readonly Input[] = ['doc', 'dot'];
const EXCEL: readonly Input[] = ['xls', 'xlt'];
const POWERPOINT: readonly Input[] = ['ppt', 'pot', 'pps'];
const OPEN_XML = (Object.keys(INPUTS) as Input[]).filter((kind) =>
  /^(doc|dot|xls|xlt|ppt|pot|pps)[xmb]$/.test(kind),
);

/** A stream at the root of every Outlook message. */
const MESSAGE = '__properties_version1.0';

/**
 * Recognizes an OLE2 file by the streams at its root. A file with unknown streams, or with a damaged container, is
 * treated as the claimed kind, or as a Word document. LibreOffice decides whether it can open it. Returns `undefined`
 * for messages.
 * @throws ConversionError `UNSUPPORTED_SOURCE` for encrypted presentations, which LibreOffice cannot open.
 */
export function recognizeBinary(bytes: Buffer, claim: Input | undefined): Recognized | undefined {
  const pick = (kinds: readonly Input[]) => kinds.find((kind) => kind === claim) ?? kinds[0]!;
  const fallback = pick([...WORD, ...EXCEL, ...POWERPOINT, 'wps', 'wpd']);
  let file: CompoundFile;
  try {
    file = new CompoundFile(bytes);
  } catch {
    return { kind: fallback, encrypted: false };
  }
  if (file.has(MESSAGE)) return undefined;
  // Encrypted Office Open XML. Only the claim distinguishes documents, spreadsheets and presentations.
  if (file.has('EncryptedPackage')) return { kind: pick(['docx', ...OPEN_XML]), encrypted: true };
  if (file.has('WordDocument')) return { kind: pick(WORD), encrypted: isWordEncrypted(file) };
  const sheet = ['Workbook', 'Book'].find((name) => file.has(name));
  if (sheet) return { kind: pick(EXCEL), encrypted: isSheetEncrypted(file, sheet) };
  if (file.has('VisioDocument')) return { kind: 'vsd', encrypted: false };
  if (!file.has('PowerPoint Document')) return { kind: fallback, encrypted: false };
  if (areSlidesEncrypted(file)) {
    throw new ConversionError(
      'UNSUPPORTED_SOURCE',
      'Encrypted PowerPoint 97-2003 presentations are not supported. Save the presentation without a password or as .pptx.',
    );
  }
  return { kind: pick(POWERPOINT), encrypted: false };
}

/** Recognizes formats of old versions without a container: Excel 2 to 5, Word 1 to 6, WordPerfect, Write. */
export function recognizeStream(bytes: Buffer): Recognized | undefined {
  const [first, length] = bytes.length >= 4 ? [bytes.readUInt16LE(0), bytes.readUInt16LE(2)] : [0, 0];
  // A BOF record of 4 to 16 bytes ([MS-XLS] 2.4.21; earlier versions differ in the record's high byte).
  const isSheet = [0x0009, 0x0209, 0x0409, 0x0809].includes(first) && length >= 4 && length <= 16;
  if (isSheet) return { kind: 'xls', encrypted: false };
  if (bytes.toString('latin1', 0, 4) === '\xffWPC') return { kind: 'wpd', encrypted: false };
  if ([0xbe31, 0xbe32].includes(first) && length === 0) return { kind: 'wri', encrypted: false };
  if ([0xa59b, 0xa5db, 0xa5dc, 0xa5ec].includes(first)) return { kind: 'doc', encrypted: false };
  return undefined;
}

/** Maximum bytes of a WordPerfect 4 code with its contents. Headers and footers are among the longest. */
const MAX_CODE_BYTES = 1024;

/**
 * Whether a file is a WordPerfect 4 document. The format has no signature, only text with codes that begin and end
 * with the same byte from 0xC0 to 0xFE. The first code comes before any text.
 */
export function isWordPerfect4(bytes: Buffer): boolean {
  const isCode = (byte: number) => byte >= 0xc0 && byte <= 0xfe;
  if (!isCode(bytes[0] ?? 0)) return false;
  let readable = 0;
  let unreadable = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!;
    if (isCode(byte)) {
      const length = bytes.subarray(at + 1, at + MAX_CODE_BYTES).indexOf(byte);
      if (length < 0) return false;
      at += length + 1;
    } else if ((byte >= 0x20 && byte < 0x7f) || (byte >= 0x09 && byte <= 0x0d)) readable += 1;
    else unreadable += 1;
  }
  return readable > 0 && unreadable <= readable / 4;
}

/** [MS-DOC] 2.5.2: bit fEncrypted of the FIB. */
function isWordEncrypted(file: CompoundFile): boolean {
  const information = file.head('WordDocument', 12);
  return information.length === 12 && (information.readUInt16LE(10) & 0x0100) !== 0;
}

/** [MS-XLS] 2.4.117: a FilePass record in the first substream. */
function isSheetEncrypted(file: CompoundFile, stream: string): boolean {
  const [FILE_PASS, END_OF_PART] = [0x2f, 0x0a];
  const records = file.head(stream, 8192);
  for (let at = 0; at + 4 <= records.length; at += 4 + records.readUInt16LE(at + 2)) {
    const type = records.readUInt16LE(at);
    if (type === FILE_PASS) return true;
    if (type === END_OF_PART) return false;
  }
  return false;
}

/** [MS-PPT] 2.3.2: headerToken of CurrentUserAtom, or an encrypted summary. */
function areSlidesEncrypted(file: CompoundFile): boolean {
  const user = file.head('Current User', 16);
  const token = user.length === 16 ? user.readUInt32LE(12) : 0;
  return token === 0xf3d1c4df || file.has('EncryptedSummary');
}
