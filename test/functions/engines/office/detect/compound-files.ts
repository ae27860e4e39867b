const SECTOR = 512;
/** Streams below this size would belong into a stream of their own kind. */
const MIN_STREAM = 4096;
const [FREE, END, TABLE] = [0xffffffff, 0xfffffffe, 0xfffffffd];

/**
 * An OLE compound file of one stream: the header, the sector table, the directory, and the stream from sector 2. The
 * class ID says which program made it.
 */
export function makeCompoundFile(name: string, content: Buffer, { classId = Buffer.alloc(16) } = {}): Buffer {
  const sectors = Math.ceil(Math.max(content.length, MIN_STREAM) / SECTOR);
  const stream = Buffer.alloc(sectors * SECTOR);
  content.copy(stream);

  const header = Buffer.alloc(SECTOR, 0xff);
  header.fill(0, 0, 76);
  header.write('d0cf11e0a1b11ae1', 'hex');
  header.set([0x3e, 0, 3, 0, 0xfe, 0xff, 9, 0, 6, 0], 24);
  // One sector of the table. The directory is sector 1.
  header.writeUInt32LE(1, 44);
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(MIN_STREAM, 56);
  header.writeUInt32LE(END, 60);
  header.writeUInt32LE(END, 68);
  header.writeUInt32LE(0, 76);

  const table = Buffer.alloc(SECTOR);
  for (let sector = 0; sector < SECTOR / 4; sector++) {
    const next = sector === sectors + 1 ? END : sector < sectors + 2 ? sector + 1 : FREE;
    table.writeUInt32LE(sector === 0 ? TABLE : sector === 1 ? END : next, sector * 4);
  }
  const root = entry('Root Entry', 5, 1, END, 0);
  classId.copy(root, 80);
  const directory = [root, entry(name, 2, FREE, 2, stream.length)];
  return Buffer.concat([
    header,
    table,
    ...directory,
    entry('', 0, FREE, 0, 0),
    entry('', 0, FREE, 0, 0),
    stream,
  ]);
}

function entry(name: string, type: number, child: number, first: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(128);
  buffer.write(name, 'utf16le');
  buffer.writeUInt16LE(name === '' ? 0 : 2 * (name.length + 1), 64);
  buffer.set([type, 1], 66);
  buffer.writeUInt32LE(FREE, 68);
  buffer.writeUInt32LE(FREE, 72);
  buffer.writeUInt32LE(child, 76);
  buffer.writeUInt32LE(first, 116);
  buffer.writeUInt32LE(bytes, 120);
  return buffer;
}
