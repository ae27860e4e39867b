import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { resultTooLargeError } from '../shared/errors.ts';

/** Number of bytes to read at a time, always into the same buffer. */
const CHUNK = 2 ** 20;
/** Flags that do not block on a pipe and do not follow a link. */
export const READING = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW;
/** Maximum of the 32-bit sizes and offsets. */
const MAX_SIZE = 0xffff_ffff;
/** Lists the signatures of the records, and the sizes of their fixed parts. */
const [FILE, DIRECTORY, END] = [0x04034b50, 0x02014b50, 0x06054b50];
const [FILE_SIZE, DIRECTORY_SIZE, END_SIZE] = [30, 46, 22];
/** Describe version 1.0 of the format, names in UTF-8, a writer on Unix, and a file that its owner may write. */
const [VERSION, UTF8, UNIX, MODE] = [10, 0x0800, 0x0314, 0o100644];

/**
 * Writes a ZIP archive of files that are not compressed. Source: section 4.3 of PKWARE's APPNOTE. yazl computes checksums in
 * JavaScript and reads each file whole, which took 80 ms of the server's main thread for a split document of 12 MB.
 */
export class StoredZip {
  readonly #file: FileHandle;
  readonly #buffer = Buffer.allocUnsafeSlow(CHUNK);
  readonly #directory: Buffer[] = [];
  #offset = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  /** Creates a file that does not exist yet. */
  static async create(path: string): Promise<StoredZip> {
    return new StoredZip(await open(path, 'wx', 0o600));
  }

  /** Adds a file under a name. */
  async add(path: string, name: string, signal: AbortSignal): Promise<void> {
    const start = this.#offset;
    const encoded = Buffer.from(name);
    await this.#write(Buffer.concat([Buffer.alloc(FILE_SIZE), encoded]));
    const begin = this.#offset;
    let checksum = 0;
    const source = await open(path, READING);
    try {
      for (;;) {
        signal.throwIfAborted();
        const { bytesRead } = await source.read(this.#buffer, 0, CHUNK);
        if (bytesRead === 0) break;
        const chunk = this.#buffer.subarray(0, bytesRead);
        checksum = crc32(chunk, checksum);
        await this.#write(chunk);
      }
    } finally {
      await source.close();
    }
    const facts = factsOf(checksum, this.#offset - begin, encoded.length);
    const head = Buffer.alloc(FILE_SIZE);
    head.writeUInt32LE(FILE, 0);
    facts.copy(head, 4);
    await this.#file.write(head, 0, FILE_SIZE, start);
    const record = Buffer.alloc(DIRECTORY_SIZE);
    record.writeUInt32LE(DIRECTORY, 0);
    record.writeUInt16LE(UNIX, 4);
    facts.copy(record, 6);
    record.writeUInt32LE(MODE * 2 ** 16, 38);
    record.writeUInt32LE(start, 42);
    this.#directory.push(record, encoded);
  }

  /** Writes the directory, and returns the size of the archive in bytes. */
  async end(): Promise<number> {
    const directory = Buffer.concat(this.#directory);
    const end = Buffer.alloc(END_SIZE);
    const count = this.#directory.length / 2;
    end.writeUInt32LE(END, 0);
    end.writeUInt16LE(count, 8);
    end.writeUInt16LE(count, 10);
    end.writeUInt32LE(directory.length, 12);
    end.writeUInt32LE(this.#offset, 16);
    await this.#write(Buffer.concat([directory, end]));
    return this.#offset;
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async #write(bytes: Buffer): Promise<void> {
    if (this.#offset + bytes.length > MAX_SIZE) throw resultTooLargeError(MAX_SIZE);
    for (let written = 0; written < bytes.length; )
      written += (await this.#file.write(bytes, written, bytes.length - written, this.#offset + written))
        .bytesWritten;
    this.#offset += bytes.length;
  }
}

/** Returns what the record before a file and the directory have in common. */
function factsOf(checksum: number, size: number, nameLength: number): Buffer {
  const facts = Buffer.alloc(26);
  const now = new Date();
  const time = (now.getHours() << 11) | (now.getMinutes() << 5) | (now.getSeconds() >> 1);
  const date = ((now.getFullYear() - 1980) << 9) | ((now.getMonth() + 1) << 5) | now.getDate();
  facts.writeUInt16LE(VERSION, 0);
  facts.writeUInt16LE(UTF8, 2);
  facts.writeUInt16LE(time, 6);
  facts.writeUInt16LE(date, 8);
  facts.writeUInt32LE(checksum, 10);
  facts.writeUInt32LE(size, 14);
  facts.writeUInt32LE(size, 18);
  facts.writeUInt16LE(nameLength, 22);
  return facts;
}
