import { brotliCompressSync } from 'node:zlib';

/** Tags that a WOFF2 directory represents as numbers. */
const KNOWN = [
  'cmap',
  'head',
  'hhea',
  'hmtx',
  'maxp',
  'name',
  'OS/2',
  'post',
  'cvt ',
  'fpgm',
  'glyf',
  'loca',
  'prep',
  'CFF ',
  'VORG',
  'EBDT',
  'EBLC',
  'gasp',
  'hdmx',
  'kern',
  'LTSH',
  'PCLT',
  'VDMX',
  'vhea',
  'vmtx',
  'BASE',
  'GDEF',
  'GPOS',
  'GSUB',
];

/** Wraps a TrueType font as WOFF2 with untransformed tables (https://www.w3.org/TR/WOFF2/). */
export function toWoff2(font: Buffer): Buffer {
  const count = font.readUInt16BE(4);
  const tables = Array.from({ length: count }, (_, index) => {
    const entry = 12 + 16 * index;
    const start = font.readUInt32BE(entry + 8);
    const length = font.readUInt32BE(entry + 12);
    return { tag: font.toString('latin1', entry, entry + 4), data: font.subarray(start, start + length) };
  });
  const directory = Buffer.concat(
    tables.flatMap(({ tag, data }) => {
      const known = KNOWN.indexOf(tag);
      // Transform version 3 means none for these two tables.
      const version = tag === 'glyf' || tag === 'loca' ? 3 : 0;
      const flags = Buffer.from([(version << 6) | (known < 0 ? 63 : known)]);
      return [flags, known < 0 ? Buffer.from(tag, 'latin1') : Buffer.alloc(0), base128(data.length)];
    }),
  );
  const data = brotliCompressSync(Buffer.concat(tables.map((table) => table.data)));
  const header = Buffer.alloc(48);
  const whole = Math.ceil((header.length + directory.length + data.length) / 4) * 4;
  const padded = (length: number) => Math.ceil(length / 4) * 4;
  const unpacked = tables.reduce((sum, table) => sum + padded(table.data.length), 12 + 16 * count);
  header.write('wOF2', 'latin1');
  font.copy(header, 4, 0, 4);
  header.writeUInt32BE(whole, 8);
  header.writeUInt16BE(count, 12);
  header.writeUInt32BE(unpacked, 16);
  header.writeUInt32BE(data.length, 20);
  return Buffer.concat([header, directory, data], whole);
}

function base128(value: number): Buffer {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return Buffer.from(bytes);
}
