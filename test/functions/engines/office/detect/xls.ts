import { encryptWorkbook, filePass, type XlsCipher } from './encrypt-xls.ts';

const SECTOR = 512;
/** Streams below this size would belong into a stream of their own kind. */
const MIN_STREAM = 4096;
const [FREE, END, TABLE] = [0xffffffff, 0xfffffffe, 0xfffffffd];

/** A binary Excel file of one sheet with the same number in a row for each of the built-in formats. */
export function makeXls(
  value: number,
  formats: readonly number[],
  { cipher, password = '' }: { cipher?: XlsCipher; password?: string } = {},
): Buffer {
  const sheets = (offset: number) =>
    record(0x85, [offset, 4], [0, 2], [1, 1], [0, 1], ['S'.charCodeAt(0), 1]);
  const start = (type: number) => record(0x809, [0x600, 2], [type, 2], [0, 4], [0, 4], [0, 4]);
  // The first format is the parent of the others, which are those of cells.
  const styles = [0, ...formats].map((id, index) =>
    record(
      0xe0,
      [0, 2],
      [id, 2],
      [index === 0 ? 0xfff5 : 0, 2],
      [0x20, 2],
      [0, 1],
      [0xfc, 1],
      [0, 4],
      [0, 4],
      [0, 2],
    ),
  );
  const numbers = formats.map((_, row) => {
    const double = Buffer.alloc(8);
    double.writeDoubleLE(value);
    return record(
      0x203,
      [row, 2],
      [0, 2],
      [row + 1, 2],
      [double.readUInt32LE(0), 4],
      [double.readUInt32LE(4), 4],
    );
  });
  // LibreOffice skips the first cell of a sheet that does not begin with its dimensions.
  const dimensions = record(0x200, [0, 4], [formats.length, 4], [0, 2], [1, 2], [0, 2]);
  const end = record(0x0a);
  const lock = cipher ? [recordOf(0x2f, filePass(cipher, password))] : [];
  const before = Buffer.concat([start(5), ...lock, ...styles]);
  const sheet = Buffer.concat([start(0x10), dimensions, ...numbers, end]);
  const offset = before.length + sheets(0).length + end.length;
  const workbook = Buffer.concat([before, sheets(offset), end, sheet]);
  return makeCompound('Workbook', cipher ? encryptWorkbook(workbook, cipher, password) : workbook);
}

function record(type: number, ...fields: ReadonlyArray<readonly [value: number, bytes: number]>): Buffer {
  const body = Buffer.concat(fields.map(([value, bytes]) => unsigned(value, bytes)));
  return recordOf(type, body);
}

function recordOf(type: number, body: Buffer): Buffer {
  return Buffer.concat([unsigned(type, 2), unsigned(body.length, 2), body]);
}

function unsigned(value: number, bytes: number): Buffer {
  const buffer = Buffer.alloc(bytes);
  buffer.writeUIntLE(value, 0, bytes);
  return buffer;
}

/** An OLE compound file of one stream: the header, the sector table, the directory, and the stream from sector 2. */
function makeCompound(name: string, content: Buffer): Buffer {
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
  const directory = [entry('Root Entry', 5, 1, END, 0), entry(name, 2, FREE, 2, stream.length)];
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
