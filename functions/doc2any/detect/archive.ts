import { promisify } from 'node:util';
import { createInflateRaw, inflateRaw } from 'node:zlib';
import { type Entry, fromBufferPromise } from 'yauzl';
import { ConversionError } from '../../shared/errors.ts';

/** Bounds of an archive, counted in bytes that really come out, never in what its headers claim. */
const MAX_ENTRIES = 5000;
const MAX_BYTES = 300_000_000;
const MAX_RATIO = 200;
/** Below it any ratio is harmless: the XML of an empty sheet may well shrink a thousandfold. */
const RATIO_FROM = 20_000_000;
/** Entries up to this are inflated in one go, several times faster than by a stream; deflate makes at most 135 MB of it. */
const SMALL = 128 * 1024;
const DEFLATE_LIMIT = 1032;

const inflateWhole = promisify(inflateRaw);

/** Whether bytes begin as a ZIP archive, the container of OOXML and ODF. */
export function isArchive(bytes: Buffer): boolean {
  return bytes.subarray(0, 4).equals(Buffer.from('PK\x03\x04', 'latin1'));
}

/**
 * Inflates a whole archive in memory that does not grow with it; `see` gets each entry's bytes, in pieces.
 * @throws ConversionError `CORRUPT_SOURCE`; `SOURCE_TOO_LARGE` for what blows up.
 */
export async function scanArchive(bytes: Buffer, see: (name: string, piece: Buffer) => void): Promise<void> {
  let left = Math.min(MAX_BYTES, Math.max(RATIO_FROM, bytes.length * MAX_RATIO));
  try {
    const zip = await fromBufferPromise(withWholeEnd(bytes), { strictFileNames: false });
    if (zip.entryCount > MAX_ENTRIES) throw tooLarge(`holds more than ${MAX_ENTRIES} parts`);
    const entries: Entry[] = [];
    for await (const entry of zip.eachEntry()) entries.push(entry);
    // A claim to be too large is believed at once; a claim to be small is not.
    const claimed = entries.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    if (claimed > left) throw tooLarge('is far larger unpacked than it may be');
    for (const entry of entries) {
      for await (const piece of inflate(entry, bytes)) {
        left -= piece.length;
        if (left < 0) throw tooLarge('is far larger unpacked than it may be');
        see(entry.fileName, piece);
      }
    }
  } catch (thrown) {
    if (thrown instanceof ConversionError) throw thrown;
    throw new ConversionError('CORRUPT_SOURCE', 'The document is damaged: its archive is not whole.', {
      cause: thrown,
    });
  }
}

/** Ends an archive right after its directory: bytes too many or too few there are harmless, and LibreOffice does not mind. */
function withWholeEnd(bytes: Buffer): Buffer {
  const [LENGTH, COMMENT] = [20, 22];
  const end = bytes.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  if (end < 0 || end + COMMENT > bytes.length) return bytes;
  if (bytes.readUInt16LE(end + LENGTH) === bytes.length - end - COMMENT) return bytes;
  return Buffer.concat([bytes.subarray(0, end + LENGTH), Buffer.alloc(2)]);
}

async function* inflate(entry: Entry, bytes: Buffer): AsyncGenerator<Buffer> {
  const header = entry.relativeOffsetOfLocalHeader;
  const start = header + 30 + bytes.readUInt16LE(header + 26) + bytes.readUInt16LE(header + 28);
  const data = bytes.subarray(start, start + entry.compressedSize);
  if (data.length < entry.compressedSize) throw new RangeError('an entry past the end');
  if (entry.compressionMethod === 0) yield data;
  if (entry.compressionMethod !== 8) return;
  if (data.length <= SMALL) {
    yield await inflateWhole(data, { maxOutputLength: (data.length + 1) * DEFLATE_LIMIT });
    return;
  }
  const stream = createInflateRaw();
  stream.end(data);
  yield* stream as AsyncIterable<Buffer>;
}

function tooLarge(what: string): ConversionError {
  return new ConversionError('SOURCE_TOO_LARGE', `The document ${what}.`);
}
