import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { constants, crc32, createInflateRaw, inflateRaw } from 'node:zlib';
import { fromBufferPromise } from 'yauzl';
import { ConversionError } from '../../../shared/errors.ts';

/** Limits of an archive, counted in bytes that are actually inflated, never in the sizes that its headers claim. */
const MAX_ENTRIES = 5000;
const MAX_BYTES = 300_000_000;
const MAX_RATIO = 200;
/** Size up to which any compression ratio is harmless: the XML of an empty sheet may shrink a thousandfold. */
const RATIO_FROM = 20_000_000;
/**
 * Entries up to this size are inflated in one piece, several times faster than as a stream. They inflate to
 * at most 135 MB.
 */
const SMALL = 128 * 1024;
const DEFLATE_LIMIT = 1032;

/** Maximum bytes of a part that is edited, and of all such parts. The text of a book takes 5 MB. */
const MAX_TEXT = 8_000_000;
const MAX_TEXTS = 16_000_000;

const LOCAL_HEADER = Buffer.from('PK\x03\x04', 'latin1');
const DIRECTORY_HEADER = Buffer.from('PK\x01\x02\x14\x00', 'latin1');
const DIRECTORY_END = Buffer.from('PK\x05\x06', 'latin1');
/** January 1, 1980, in the format of MS-DOS. */
const FIRST_DATE = 0x21;
/** Flag of a name in UTF-8. */
const UTF8_NAME = 0x800;

const EXPANDS = 'it expands to more data than allowed';
/** Inflates a truncated part as far as possible. */
const LENIENT = { finishFlush: constants.Z_SYNC_FLUSH };

const inflateWhole = promisify(inflateRaw);

/** A part of an archive. `data` may extend past the part's end, because deflate detects the end. */
interface Part {
  readonly name: string;
  readonly method: number;
  readonly data: Buffer;
  /** Inflated size according to the headers. */
  readonly claimed: number;
}

/** A part of an archive that has a directory. */
interface ListedPart extends Part {
  /** The name as it is in the archive. */
  readonly nameBytes: Buffer;
  readonly isUtf8: boolean;
  /** Date in the format of MS-DOS. */
  readonly date: number;
  readonly checksum: number;
}

/** Whether bytes begin as a ZIP archive, the container of Office Open XML and OpenDocument. */
export function isArchive(bytes: Buffer): boolean {
  return bytes.subarray(0, 4).equals(LOCAL_HEADER);
}

/**
 * Inflates a whole archive without keeping it in memory. `see` gets the bytes of each part in pieces, with the part's
 * index in the archive. A damaged archive is read as far as possible, because LibreOffice may be able to repair it.
 * @throws ConversionError `SOURCE_TOO_LARGE` for an archive bomb.
 */
export async function scanArchive(
  bytes: Buffer,
  see: (name: string, piece: Buffer, place: number) => void,
): Promise<void> {
  let left = Math.min(MAX_BYTES, Math.max(RATIO_FROM, bytes.length * MAX_RATIO));
  const parts = (await listParts(bytes)) ?? findParts(bytes);
  if (parts.length > MAX_ENTRIES) throw tooLargeError(`it has more than ${MAX_ENTRIES} parts`);
  // A claim to be too large is trusted. A claim to be small is not.
  const claimed = parts.reduce((sum, part) => sum + part.claimed, 0);
  if (claimed > left) throw tooLargeError(EXPANDS);
  for (const [place, part] of parts.entries()) {
    try {
      for await (const piece of inflate(part)) {
        left -= piece.length;
        if (left < 0) break;
        see(part.name, piece, place);
      }
    } catch {
      // The part is damaged. Its bytes up to here have been examined and counted.
    }
    if (left < 0) throw tooLargeError(EXPANDS);
  }
}

/**
 * Returns an archive with only the last of several parts with the same name, because LibreOffice rejects duplicates.
 * Returns `undefined` if all names are unique.
 */
export async function withoutDuplicates(bytes: Buffer): Promise<Buffer | undefined> {
  const parts = (await listParts(bytes)) ?? [];
  const last = new Map(parts.map((part) => [part.name, part]));
  return last.size === parts.length ? undefined : writeArchive([...last.values()]);
}

/**
 * Reads parts of an archive as text, by their names. Omits those that are not UTF-8, too large to edit, or after too many
 * others, and returns an empty map if the archive is damaged.
 */
export async function readParts(
  bytes: Buffer,
  isWanted: (name: string) => boolean,
): Promise<ReadonlyMap<string, string>> {
  const texts = new Map<string, string>();
  let left = MAX_TEXTS;
  for (const part of (await listParts(bytes)) ?? []) {
    if (!isWanted(part.name) || part.claimed > Math.min(left, MAX_TEXT)) continue;
    const text = decode(await buffer(inflate(part)));
    if (text === undefined) continue;
    texts.set(part.name, text);
    left -= text.length;
  }
  return texts;
}

/** Reads a part of an archive; returns `undefined` if there is none, or if it is too large to edit. */
export async function readBytes(bytes: Buffer, name: string): Promise<Buffer | undefined> {
  const part = (await listParts(bytes))?.find((each) => each.name === name);
  if (!part || part.claimed > MAX_TEXT) return undefined;
  return (await buffer(inflate(part))).subarray(0, MAX_TEXT);
}

/** Whether a part has a later date than January 1, 1980, the first one that an archive can have. */
export async function hasDates(bytes: Buffer): Promise<boolean> {
  return ((await listParts(bytes)) ?? []).some(({ date }) => date !== FIRST_DATE);
}

/** Returns an archive in which some parts have another content. Everything else stays as it is. */
export async function withParts(bytes: Buffer, texts: ReadonlyMap<string, string | Buffer>): Promise<Buffer> {
  const parts = (await listParts(bytes)) ?? [];
  return writeArchive(
    parts.map((part) => {
      const text = texts.get(part.name);
      if (text === undefined) return part;
      const data = Buffer.from(text);
      return { ...part, method: 0, data, claimed: data.length, checksum: crc32(data) };
    }),
  );
}

function decode(content: Buffer): string | undefined {
  const isDeclared = /^[^<]*<\?xml\b[^<>]*\bencoding\s*=\s*["'](?!utf-?8["'])/i;
  if (content.length > MAX_TEXT || isDeclared.test(content.toString('latin1', 0, 200))) return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

/**
 * Writes an archive from the compressed bytes of its parts, without gaps, which LibreOffice rejects. Libraries that write
 * archives compress every part again.
 */
function writeArchive(parts: readonly ListedPart[]): Buffer {
  const pieces: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { nameBytes, isUtf8, method, checksum, data, claimed } of parts) {
    // Version, flags, method, time, date, checksum, sizes, length of the name, length of the extra field.
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(isUtf8 ? UTF8_NAME : 0, 2);
    facts.writeUInt16LE(method, 4);
    facts.writeUInt32LE(checksum, 10);
    facts.writeUInt32LE(data.length, 14);
    facts.writeUInt32LE(claimed, 18);
    facts.writeUInt16LE(nameBytes.length, 22);
    // Length of the comment, disk, attributes, and the offset of the part.
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    pieces.push(LOCAL_HEADER, facts, nameBytes, data);
    directory.push(DIRECTORY_HEADER, facts, place, nameBytes);
    offset += LOCAL_HEADER.length + facts.length + nameBytes.length + data.length;
  }
  const end = Buffer.alloc(22);
  DIRECTORY_END.copy(end);
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(
    directory.reduce((sum, each) => sum + each.length, 0),
    12,
  );
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...pieces, ...directory, end]);
}

/** Lists the parts in the archive's directory. Returns `undefined` if the directory is damaged. */
async function listParts(bytes: Buffer): Promise<ListedPart[] | undefined> {
  try {
    const zip = await fromBufferPromise(withWholeEnd(bytes), { strictFileNames: false });
    if (zip.entryCount > MAX_ENTRIES) throw tooLargeError(`it has more than ${MAX_ENTRIES} parts`);
    const parts: ListedPart[] = [];
    for await (const entry of zip.eachEntry()) {
      const header = entry.relativeOffsetOfLocalHeader;
      const start = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
      const data = bytes.subarray(start, start + entry.compressedSize);
      const {
        fileName: name,
        compressionMethod: method,
        uncompressedSize: claimed,
        lastModFileDate: date,
      } = entry;
      const isUtf8 = (entry.generalPurposeBitFlag & UTF8_NAME) !== 0;
      parts.push({
        name,
        nameBytes: entry.fileNameRaw,
        isUtf8,
        date,
        method,
        checksum: entry.crc32,
        data,
        claimed,
      });
    }
    return parts;
  } catch (thrown) {
    if (thrown instanceof ConversionError) throw thrown;
    return undefined;
  }
}

/** Finds the parts by their own headers, as a repair tool would. */
function findParts(bytes: Buffer): Part[] {
  const parts: Part[] = [];
  for (let at = bytes.indexOf(LOCAL_HEADER); at >= 0; at = bytes.indexOf(LOCAL_HEADER, at + 4)) {
    if (at + 30 > bytes.length || parts.length > MAX_ENTRIES) break;
    const start = at + 30 + bytes.readUInt16LE(at + 26);
    const name = bytes.toString('utf8', at + 30, start);
    const data = bytes.subarray(start + bytes.readUInt16LE(at + 28));
    const method = bytes.readUInt16LE(at + 8);
    // Stored parts are read once, in place, and count with the archive itself.
    const end = bytes.indexOf(LOCAL_HEADER, at + 4);
    const stored = end < 0 ? data : bytes.subarray(data.byteOffset - bytes.byteOffset, end);
    parts.push({ name, method, data: method === 0 ? stored : data, claimed: 0 });
  }
  return parts;
}

/** Truncates an archive right after its directory. LibreOffice tolerates extra or missing bytes there. */
function withWholeEnd(bytes: Buffer): Buffer {
  const [LENGTH, COMMENT] = [20, 22];
  const end = bytes.lastIndexOf(DIRECTORY_END);
  if (end < 0 || end + COMMENT > bytes.length) return bytes;
  if (bytes.readUInt16LE(end + LENGTH) === bytes.length - end - COMMENT) return bytes;
  return Buffer.concat([bytes.subarray(0, end + LENGTH), Buffer.alloc(2)]);
}

async function* inflate({ method, data }: Part): AsyncGenerator<Buffer> {
  if (method === 0) yield data;
  if (method !== 8) return;
  if (data.length <= SMALL) {
    yield await inflateWhole(data, { ...LENIENT, maxOutputLength: (data.length + 1) * DEFLATE_LIMIT });
    return;
  }
  const stream = createInflateRaw(LENIENT);
  stream.end(data);
  yield* stream as AsyncIterable<Buffer>;
}

function tooLargeError(why: string): ConversionError {
  return new ConversionError('SOURCE_TOO_LARGE', `The document is too large: ${why}.`);
}
