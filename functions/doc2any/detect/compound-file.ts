/** Source of the layout: [MS-CFB], https://learn.microsoft.com/openspecs/windows_protocols/ms-cfb */
const SIGNATURE = Buffer.from('d0cf11e0a1b11ae1', 'hex');
/** Above it a sector number means free, end of chain or table. */
const LAST_SECTOR = 0xfffffffa;
const ENTRY = 128;
const NONE = 0xffffffff;
/** Entries and chains beyond these are no document but an attempt to keep us busy. */
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

/** The streams at the root of an OLE2 compound file; those of embedded objects are not seen. */
export class CompoundFile {
  readonly #bytes: Buffer;
  readonly #sectorSize: number;
  readonly #miniCutoff: number;
  readonly #table: readonly number[];
  readonly #miniTable: readonly number[];
  readonly #miniStream: Buffer;
  readonly #root = new Map<string, Entry>();

  /** @throws RangeError where the file is not whole. */
  constructor(bytes: Buffer) {
    this.#bytes = bytes;
    this.#sectorSize = 1 << bytes.readUInt16LE(30);
    if (this.#sectorSize !== 512 && this.#sectorSize !== 4096) throw new RangeError('sector size');
    this.#miniCutoff = bytes.readUInt32LE(56);
    this.#table = this.#readTable();

    const directory = this.#chain(bytes.readUInt32LE(48));
    const count = Math.min(directory.length / ENTRY, MAX_ENTRIES);
    const entries = Array.from({ length: count }, (_, index) => readEntry(directory, index * ENTRY));
    const root = entries[0];
    if (!root) throw new RangeError('no directory');
    this.#miniTable = numbers(this.#chain(bytes.readUInt32LE(60)));
    this.#miniStream = this.#chain(root.start).subarray(0, root.size);
    this.#collect(entries, root.child);
  }

  has(name: string): boolean {
    return this.#root.has(name);
  }

  /** Reads the first bytes of a stream; answers an empty buffer for one that is not there. */
  head(name: string, length: number): Buffer {
    const entry = this.#root.get(name);
    if (!entry) return Buffer.alloc(0);
    const wanted = Math.min(length, entry.size);
    if (entry.size >= this.#miniCutoff) return this.#chain(entry.start, wanted).subarray(0, wanted);
    const parts: Buffer[] = [];
    const seen = new Set<number>();
    for (
      let mini = entry.start;
      parts.length * 64 < wanted && mini < LAST_SECTOR;
      mini = this.#miniTable[mini] ?? NONE
    ) {
      if (seen.has(mini)) throw new RangeError('a chain that comes back');
      seen.add(mini);
      parts.push(this.#miniStream.subarray(mini * 64, mini * 64 + 64));
    }
    return Buffer.concat(parts).subarray(0, wanted);
  }

  #readTable(): number[] {
    const sectors = numbers(this.#bytes.subarray(76, 512)).filter((sector) => sector < LAST_SECTOR);
    const seen = new Set<number>();
    const perSector = this.#sectorSize / 4 - 1;
    for (let next = this.#bytes.readUInt32LE(68); next < LAST_SECTOR; ) {
      if (seen.has(next)) throw new RangeError('a chain that comes back');
      seen.add(next);
      const more = numbers(this.#sector(next));
      sectors.push(...more.slice(0, perSector).filter((sector) => sector < LAST_SECTOR));
      next = more[perSector] ?? NONE;
    }
    return sectors.flatMap((sector) => numbers(this.#sector(sector)));
  }

  #sector(index: number): Buffer {
    const start = (index + 1) * this.#sectorSize;
    if (start >= this.#bytes.length) throw new RangeError('a sector past the end');
    return this.#bytes.subarray(start, start + this.#sectorSize);
  }

  #chain(start: number, length = Number.POSITIVE_INFINITY): Buffer {
    const parts: Buffer[] = [];
    const seen = new Set<number>();
    for (let sector = start; sector < LAST_SECTOR && parts.length * this.#sectorSize < length; ) {
      if (seen.has(sector)) throw new RangeError('a chain that comes back');
      seen.add(sector);
      parts.push(this.#sector(sector));
      sector = this.#table[sector] ?? NONE;
    }
    return Buffer.concat(parts);
  }

  #collect(entries: readonly Entry[], first: number): void {
    const waiting = [first];
    const seen = new Set<number>();
    for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
      const entry = entries[index];
      if (!entry || seen.has(index)) continue;
      seen.add(index);
      this.#root.set(entry.name, entry);
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
