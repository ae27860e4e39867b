/** Small files that were slow to recognize. Each of them once blocked the server for seconds. */

const SECTOR = 512;

/** A compound file whose DIFAT lists the same FAT sector repeatedly, so that a naive reader builds a table of gigabytes. */
export function difatBomb(megabytes: number): Buffer {
  const sectors = Math.floor((megabytes * 1_000_000) / SECTOR);
  const file = Buffer.alloc((sectors + 1) * SECTOR, 0);
  header(file, { fatSectors: 127 * (sectors - 2), difatStart: 1, difatSectors: sectors - 2, directory: 0 });
  for (let sector = 1; sector < sectors; sector += 1) {
    const start = (sector + 1) * SECTOR;
    // Every entry names sector 0; the last one leads to the next DIFAT sector.
    file.writeUInt32LE(sector + 1 < sectors ? sector + 1 : 0xfffffffe, start + SECTOR - 4);
  }
  return file;
}

/** A compound file whose directory chain, FAT and DIFAT are circular. */
export function circularCompound(): Buffer {
  const file = Buffer.alloc(8 * SECTOR, 0);
  header(file, { fatSectors: 2, difatStart: 2, difatSectors: 0xffff, directory: 1 });
  file.writeUInt32LE(0, 76);
  file.writeUInt32LE(0, 80);
  // FAT: sector 1 links to itself, and 2 and 3 link to each other.
  for (const [sector, next] of [
    [0, 0xfffffffd],
    [1, 1],
    [2, 3],
    [3, 2],
  ] as const)
    file.writeUInt32LE(next, SECTOR + 4 * sector);
  // DIFAT: leads to itself.
  file.writeUInt32LE(2, 4 * SECTOR - 4);
  return file;
}

function header(
  file: Buffer,
  parts: { fatSectors: number; difatStart: number; difatSectors: number; directory: number },
): void {
  Buffer.from('d0cf11e0a1b11ae1', 'hex').copy(file);
  file.writeUInt16LE(0x3e, 24);
  file.writeUInt16LE(3, 26);
  file.writeUInt16LE(0xfffe, 28);
  file.writeUInt16LE(9, 30);
  file.writeUInt16LE(6, 32);
  file.writeUInt32LE(parts.fatSectors, 44);
  file.writeUInt32LE(parts.directory, 48);
  file.writeUInt32LE(4096, 56);
  file.writeUInt32LE(0xfffffffe, 60);
  file.writeUInt32LE(parts.difatStart, 68);
  file.writeUInt32LE(parts.difatSectors, 72);
}

/** White space on which a pattern with `m` and `\s*` restarts at every line. */
export function longWhiteSpace(bytes: number): Buffer {
  return Buffer.alloc(bytes, '\n');
}

/** Only control words, each of which opens and closes a group. */
export function rtfWords(bytes: number): Buffer {
  const text = Buffer.alloc(bytes, '{\\a\\b0}');
  text.write('{\\rtf1 ');
  return text;
}
