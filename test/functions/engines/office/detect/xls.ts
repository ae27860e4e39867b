import { makeCompoundFile } from './compound-files.ts';
import { encryptWorkbook, filePass } from './encrypt-xls.ts';

/** A binary Excel file of one sheet with the same number in a row for each of the built-in formats. */
export function makeXls(value: number, formats: readonly number[], password?: string): Buffer {
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
  const lock = password === undefined ? [] : [recordOf(0x2f, filePass(password))];
  const before = Buffer.concat([start(5), ...lock, ...styles]);
  const sheet = Buffer.concat([start(0x10), dimensions, ...numbers, end]);
  const offset = before.length + sheets(0).length + end.length;
  const workbook = Buffer.concat([before, sheets(offset), end, sheet]);
  return makeCompoundFile(
    'Workbook',
    password === undefined ? workbook : encryptWorkbook(workbook, password),
  );
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
