/** One entry of a TIFF directory. */
export interface Entry {
  readonly tag: number;
  /** 3 is a 16-bit integer, 4 a 32-bit integer, 5 a fraction of two 32-bit integers. */
  readonly type: number;
  readonly count: number;
  /** Position of the entry in the file. */
  readonly position: number;
  /** Position of its value in the file: inside the entry if it fits into 4 bytes. */
  readonly valuePosition: number;
}

export interface Directory {
  readonly position: number;
  readonly entries: readonly Entry[];
  /** Where the position of the next directory is stored. */
  readonly nextPosition: number;
  readonly next: number;
}

/** Bytes of one value of a type, by type number. */
const SIZES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8] as const;

/** Classic TIFF, which EXIF uses too, in either byte order. Reading past the end throws a `RangeError`. */
export class TiffReader {
  readonly #bytes: Buffer;
  readonly littleEndian: boolean;

  /** @throws RangeError for bytes that are not a classic TIFF. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.littleEndian = bytes.toString('latin1', 0, 2) === 'II';
    const bigEndian = bytes.toString('latin1', 0, 2) === 'MM';
    if (!(this.littleEndian || bigEndian) || this.short(2) !== 42)
      throw new RangeError('The file is not a classic TIFF.');
  }

  short(position: number): number {
    return this.littleEndian ? this.#bytes.readUInt16LE(position) : this.#bytes.readUInt16BE(position);
  }

  long(position: number): number {
    return this.littleEndian ? this.#bytes.readUInt32LE(position) : this.#bytes.readUInt32BE(position);
  }

  /** Reads the directory at a position, by default the first one. */
  directory(position = this.long(4)): Directory {
    const count = this.short(position);
    const entries = Array.from({ length: count }, (_, index): Entry => {
      const at = position + 2 + index * 12;
      const type = this.short(at + 2);
      const values = this.long(at + 4);
      const inside = (SIZES[type] ?? 0) * values <= 4;
      return {
        tag: this.short(at),
        type,
        count: values,
        position: at,
        valuePosition: inside ? at + 8 : this.long(at + 8),
      };
    });
    const nextPosition = position + 2 + count * 12;
    return { position, entries, nextPosition, next: this.long(nextPosition) };
  }

  /** Yields all directories, forever if they form a circle. */
  *directories(): Generator<Directory> {
    for (let position = this.long(4); position !== 0; ) {
      const directory = this.directory(position);
      yield directory;
      position = directory.next;
    }
  }

  /** Returns the first value of a tag as a number. */
  value({ entries }: Directory, wanted: number): number | undefined {
    const entry = entries.find(({ tag }) => tag === wanted);
    return entry && this.number(entry);
  }

  /** Returns the first value of an entry as a number. */
  number({ type, valuePosition }: Entry): number {
    if (type === 5) return this.long(valuePosition) / this.long(valuePosition + 4);
    return type === 3 ? this.short(valuePosition) : this.long(valuePosition);
  }
}
