import { randomBytes } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';

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

/** A document whose list of parts is so long, with enough noise to stay below the allowed ratio of compression. */
export function hugeContentTypes(bytes: number): Buffer {
  const name = Buffer.from('[Content_Types].xml');
  const content = Buffer.alloc(bytes, ' ');
  for (let place = 0; place < bytes - 4; place += 4000)
    content.write(randomBytes(3).toString('hex').slice(0, 4), place);
  content.write(
    '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">',
  );
  const packed = deflateRawSync(content, { level: 1 });
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(20, 0);
  facts.writeUInt16LE(8, 4);
  facts.writeUInt32LE(crc32(content), 10);
  facts.writeUInt32LE(packed.length, 14);
  facts.writeUInt32LE(bytes, 18);
  facts.writeUInt16LE(name.length, 22);
  const entry = Buffer.concat([Buffer.from('PK\x03\x04'), facts, name, packed]);
  const listing = Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), facts, Buffer.alloc(14), name]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(listing.length, 12);
  end.writeUInt32LE(entry.length, 16);
  return Buffer.concat([entry, listing, end]);
}
