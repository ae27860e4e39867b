/** Layout: [MS-CFB], https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb */
const SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
/** The first special sector number. From here on they mean free, end of chain, or allocation table. */
const FIRST_RESERVED = 0xfffffffa;
const ENTRY = 128;
const MINI_SECTOR = 64;
/** Maximum number of directory entries that are read. */
const MAX_ENTRIES = 100_000;

interface Entry {
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly child: number;
  readonly start: number;
  readonly size: number;
}

/** Whether bytes begin as an OLE2 compound file, the container of doc, xls and ppt. */
export function isCompoundFile(bytes: Buffer): boolean {
  return bytes.subarray(0, 8).equals(SIGNATURE);
}

/**
 * The streams at the root of an OLE2 compound file. Names are case-insensitive, as in LibreOffice. Every sector is
 * followed at most once per chain, so the time is bounded by the size of the file, whatever its tables contain.
 * The package `cfb` copies every stream, which takes minutes if thousands of them share one chain of sectors.
 */
export class CompoundFile {
  readonly #bytes: Buffer;
  readonly #sectorSize: number;
  readonly #miniCutoff: number;
  /** Returns the sectors of the allocation table, in order. */
  readonly #tableSectors: readonly number[];
  readonly #root = new Map<string, Entry>();
  readonly #rootEntry: Entry;

  /** @throws RangeError if the directory cannot be read. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#sectorSize = 1 << bytes.readUInt16LE(30);
    if (this.#sectorSize !== 512 && this.#sectorSize !== 4096) throw new RangeError('sector size');
    this.#miniCutoff = bytes.readUInt32LE(56);
    this.#tableSectors = this.#listTableSectors();

    const directory = this.#read(bytes.readUInt32LE(48), MAX_ENTRIES * ENTRY);
    const count = Math.floor(directory.length / ENTRY);
    const entries = Array.from({ length: count }, (_, index) => readEntry(directory, index * ENTRY));
    if (!entries[0]) throw new RangeError('no directory');
    this.#rootEntry = entries[0];
    this.#collect(entries, entries[0].child);
  }

  has(name: string): boolean {
    return this.#root.has(name.toLowerCase());
  }

  /** Reads up to `length` bytes from the start of a stream. Returns an empty buffer if there is no such stream. */
  head(name: string, length: number): Buffer {
    const entry = this.#root.get(name.toLowerCase());
    if (!entry) return Buffer.alloc(0);
    const wanted = Math.min(length, entry.size);
    if (entry.size >= this.#miniCutoff) return this.#read(entry.start, wanted);
    return this.#readMini(entry.start, wanted);
  }

  #listTableSectors(): number[] {
    const max = Math.ceil(this.#bytes.length / this.#sectorSize);
    const found = new Set<number>();
    const add = (numbers: readonly number[]) => {
      for (const sector of numbers) if (sector < max) found.add(sector);
    };
    add(numbers(this.#bytes.subarray(76, 512)));
    const perSector = this.#sectorSize / 4 - 1;
    const seen = new Set<number>();
    for (let next = this.#bytes.readUInt32LE(68); next < max && !seen.has(next); ) {
      seen.add(next);
      const more = numbers(this.#sector(next));
      add(more.slice(0, perSector));
      next = more[perSector] ?? FIRST_RESERVED;
    }
    return [...found];
  }

  /** Returns the sector that follows another, according to the allocation table. */
  #next(sector: number): number {
    const perSector = this.#sectorSize / 4;
    const table = this.#tableSectors[Math.floor(sector / perSector)];
    if (table === undefined) return FIRST_RESERVED;
    const part = this.#sector(table);
    const at = (sector % perSector) * 4;
    return at + 4 <= part.length ? part.readUInt32LE(at) : FIRST_RESERVED;
  }

  #sector(index: number): Buffer {
    const start = (index + 1) * this.#sectorSize;
    return this.#bytes.subarray(start, start + this.#sectorSize);
  }

  /** Reads a chain of sectors until it ends, leaves the file, loops, or has `length` bytes. */
  #read(start: number, length: number): Buffer {
    const parts: Buffer[] = [];
    const seen = new Set<number>();
    for (let sector = start; sector < FIRST_RESERVED && !seen.has(sector); sector = this.#next(sector)) {
      const part = this.#sector(sector);
      if (part.length === 0 || parts.length * this.#sectorSize >= length) break;
      seen.add(sector);
      parts.push(part);
    }
    return Buffer.concat(parts).subarray(0, length);
  }

  #readMini(start: number, length: number): Buffer {
    const table = this.#read(this.#bytes.readUInt32LE(60), this.#bytes.length);
    const next = (mini: number) =>
      mini * 4 + 4 <= table.length ? table.readUInt32LE(mini * 4) : FIRST_RESERVED;
    const stream = this.#read(this.#rootEntry.start, this.#rootEntry.size);
    const parts: Buffer[] = [];
    const seen = new Set<number>();
    for (let mini = start; mini < FIRST_RESERVED && !seen.has(mini); mini = next(mini)) {
      if (parts.length * MINI_SECTOR >= length) break;
      seen.add(mini);
      parts.push(stream.subarray(mini * MINI_SECTOR, (mini + 1) * MINI_SECTOR));
    }
    return Buffer.concat(parts).subarray(0, length);
  }

  #collect(entries: readonly Entry[], first: number): void {
    const waiting = [first];
    const seen = new Set<number>();
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      const entry = entries[index];
      if (!entry || seen.has(index)) continue;
      seen.add(index);
      this.#root.set(entry.name.toLowerCase(), entry);
      waiting.push(entry.left, entry.right);
    }
  }
}

function readEntry(bytes: Buffer, at: number): Entry {
  const nameLength = Math.min(64, Math.max(2, bytes.readUInt16LE(at + 64)));
  return {
    name: bytes.toString('utf16le', at, at + nameLength - 2),
    left: bytes.readUInt32LE(at + 68),
    right: bytes.readUInt32LE(at + 72),
    child: bytes.readUInt32LE(at + 76),
    start: bytes.readUInt32LE(at + 116),
    size: bytes.readUInt32LE(at + 120),
  };
}

function numbers(bytes: Buffer): number[] {
  return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => bytes.readUInt32LE(index * 4));
}
