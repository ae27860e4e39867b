import { createHash } from 'node:crypto';
import { crc32, deflateRawSync } from 'node:zlib';

interface Part {
  readonly name: string;
  readonly content: Buffer | string;
}

/**
 * Writes a ZIP archive by hand, so that it can be invalid. `claim` is the uncompressed size in its headers, and `date` is in the
 * format of MS-DOS.
 */
export function makeArchive(
  parts: readonly Part[],
  { claim, date = 0 }: { claim?: number | undefined; date?: number | undefined } = {},
): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of parts) {
    const bytes = Buffer.from(content);
    const packed = deflateRawSync(bytes, { level: 9 });
    const facts = Buffer.alloc(20);
    facts.writeUInt16LE(8, 2);
    facts.writeUInt16LE(date, 6);
    facts.writeUInt32LE(crc32(bytes), 8);
    facts.writeUInt32LE(packed.length, 12);
    facts.writeUInt32LE(claim ?? bytes.length, 16);
    const named = Buffer.from(name);
    const lengths = Buffer.alloc(4);
    lengths.writeUInt16LE(named.length);
    const local = Buffer.concat([Buffer.from('PK\x03\x04\x14\x00', 'latin1'), facts, lengths, named, packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    central.push(
      Buffer.concat([Buffer.from('PK\x01\x02\x14\x00\x14\x00', 'latin1'), facts, lengths, place, named]),
    );
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, directory, end]);
}

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
const RELATIONSHIPS = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** A docx of one paragraph, with additional body, relationships and parts. */
export function makeDocx({
  body = '',
  relationships = '',
  more = [] as readonly Part[],
  date = 0,
} = {}): Buffer {
  const xml = '<?xml version="1.0" encoding="UTF-8"?>';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  return makeArchive(
    [
      {
        name: '[Content_Types].xml',
        content:
          `${xml}<Types xmlns="${packaged}/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
          '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
          '<Default Extension="png" ContentType="image/png"/>' +
          `<Override PartName="/word/document.xml" ContentType="${WORD}"/></Types>`,
      },
      {
        name: '_rels/.rels',
        content: `${xml}<Relationships xmlns="${packaged}/relationships"><Relationship Id="r1" Type="${RELATIONSHIPS}/officeDocument" Target="word/document.xml"/></Relationships>`,
      },
      {
        name: 'word/_rels/document.xml.rels',
        content: `${xml}<Relationships xmlns="${packaged}/relationships">${relationships}</Relationships>`,
      },
      {
        name: 'word/document.xml',
        content:
          `${xml}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${RELATIONSHIPS}"` +
          ' xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing"' +
          ' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"' +
          ' xmlns:pic="http://schemas.openxmlformats.org/drawingml/2006/picture"' +
          ' xmlns:v="urn:schemas-microsoft-com:vml" xmlns:o="urn:schemas-microsoft-com:office:office">' +
          `<w:body><w:p><w:r><w:t>Ein Absatz</w:t></w:r></w:p>${body}</w:body></w:document>`,
      },
      ...more,
    ],
    { date },
  );
}

const SHEETS = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const SHEET = 'application/vnd.openxmlformats-officedocument.spreadsheetml';

/** An xlsx of one sheet with the given rows, with what follows them in the sheet, and with further parts. */
export function makeXlsx(
  rows: string,
  { formats = [0] as readonly number[], more = '', parts = {} as Readonly<Record<string, string>> } = {},
): Buffer {
  const xml = '<?xml version="1.0" encoding="UTF-8"?>';
  const packaged = 'http://schemas.openxmlformats.org/package/2006';
  const relationships = (...targets: ReadonlyArray<readonly [type: string, target: string]>) => {
    const all = targets.map(
      ([type, target], index) =>
        `<Relationship Id="r${index + 1}" Type="${RELATIONSHIPS}/${type}" Target="${target}"/>`,
    );
    return `${xml}<Relationships xmlns="${packaged}/relationships">${all.join('')}</Relationships>`;
  };
  const styles = formats.map((id) => `<xf numFmtId="${id}" applyNumberFormat="1"/>`).join('');
  return makeArchive([
    {
      name: '[Content_Types].xml',
      content:
        `${xml}<Types xmlns="${packaged}/content-types"><Default Extension="xml" ContentType="application/xml"/>` +
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
        `<Override PartName="/xl/workbook.xml" ContentType="${SHEET}.sheet.main+xml"/>` +
        `<Override PartName="/xl/styles.xml" ContentType="${SHEET}.styles+xml"/>` +
        `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${SHEET}.worksheet+xml"/></Types>`,
    },
    { name: '_rels/.rels', content: relationships(['officeDocument', 'xl/workbook.xml']) },
    {
      name: 'xl/workbook.xml',
      content: `${xml}<workbook xmlns="${SHEETS}" xmlns:r="${RELATIONSHIPS}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: relationships(['worksheet', 'worksheets/sheet1.xml'], ['styles', 'styles.xml']),
    },
    {
      name: 'xl/styles.xml',
      content: `${xml}<styleSheet xmlns="${SHEETS}"><cellXfs count="${formats.length}">${styles}</cellXfs></styleSheet>`,
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      content: `${xml}<worksheet xmlns="${SHEETS}"><sheetData>${rows}</sheetData>${more}</worksheet>`,
    },
    ...Object.entries(parts).map(([name, content]) => ({ name, content })),
  ]);
}

/** An image of one inch, referenced by the given relationship attribute. */
export const drawing = (reference: string) =>
  '<w:p><w:r><w:drawing><wp:inline><wp:extent cx="914400" cy="914400"/><wp:docPr id="1" name="p"/><a:graphic>' +
  '<a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr>' +
  '<pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill>' +
  `<a:blip ${reference}/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/>` +
  '<a:ext cx="914400" cy="914400"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>' +
  '</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>';

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

/** Length in bytes of the blocks of the stream that share a key. */
const BLOCK = 1024;
const SALT = Buffer.from('000102030405060708090a0b0c0d0e0f', 'hex');
const VERIFIER = Buffer.from('f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff', 'hex');
const [BOF, FILE_PASS, BOUND_SHEET] = [0x809, 0x2f, 0x85];

const md5 = (...parts: Buffer[]) => createHash('md5').update(Buffer.concat(parts)).digest();

function keyOf(password: Buffer, block: Buffer): Buffer {
  const mixed = Buffer.concat([md5(password).subarray(0, 5), SALT]);
  const key = md5(...Array.from({ length: 16 }, () => mixed)).subarray(0, 5);
  return md5(key, block);
}

/** Returns the body of the record that tells how the rest of a workbook is encrypted; [MS-XLS] 2.4.117. */
function filePass(password: string): Buffer {
  const proof = Buffer.concat([VERIFIER, md5(VERIFIER)]);
  const mask = keystream(keyOf(Buffer.from(password, 'utf16le'), number(0)), proof.length);
  const encrypted = proof.map((byte, index) => byte ^ mask[index]!);
  return Buffer.concat([Buffer.from('010001000100', 'hex'), SALT, encrypted]);
}

/** Encrypts the bodies of a workbook's records with RC4, except those that tell where and how to read. */
function encryptWorkbook(workbook: Buffer, password: string): Buffer {
  const secret = Buffer.from(password, 'utf16le');
  const blocks = Array.from({ length: Math.ceil(workbook.length / BLOCK) }, (_, block) =>
    keystream(keyOf(secret, number(block)), BLOCK),
  );
  const mask = Buffer.concat(blocks);
  const result = Buffer.from(workbook);
  for (let at = 0; at < workbook.length; ) {
    const [type, length] = [workbook.readUInt16LE(at), workbook.readUInt16LE(at + 2)];
    const [start, end] = [at + 4, at + 4 + length];
    const plain = type === BOF || type === FILE_PASS ? length : type === BOUND_SHEET ? 4 : 0;
    for (let index = start + plain; index < end; index++) result[index]! ^= mask[index]!;
    at = end;
  }
  return result;
}

function number(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32LE(value);
  return buffer;
}

/** RC4, which OpenSSL no longer offers by default. */
function keystream(key: Buffer, length: number): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const swap = (one: number, other: number) => {
    [state[one], state[other]] = [state[other]!, state[one]!];
  };
  for (let index = 0, other = 0; index < 256; index++) {
    other = (other + state[index]! + key[index % key.length]!) & 255;
    swap(index, other);
  }
  const stream = Buffer.alloc(length);
  for (let at = 0, index = 0, other = 0; at < length; at++) {
    index = (index + 1) & 255;
    other = (other + state[index]!) & 255;
    swap(index, other);
    stream[at] = state[(state[index]! + state[other]!) & 255]!;
  }
  return stream;
}
