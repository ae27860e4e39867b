/** The properties of an embedded TrueType font in a PDF. */
export interface FontFacts {
  readonly unitsPerEm: number;
  readonly ascent: number;
  readonly descent: number;
  readonly box: readonly number[];
  /** Widths of the characters 32 to 126, in thousandths of the size. */
  readonly widths: readonly number[];
}

/** Reads a TrueType file: its tables head, hhea, hmtx and cmap (format 4), as in the OpenType specification. */
export function readFont(file: Buffer): FontFacts {
  const tables = new Map<string, number>();
  for (let entry = 0; entry < file.readUInt16BE(4); entry += 1) {
    const at = 12 + entry * 16;
    tables.set(file.toString('latin1', at, at + 4), file.readUInt32BE(at + 8));
  }
  const head = tables.get('head')!;
  const hhea = tables.get('hhea')!;
  const hmtx = tables.get('hmtx')!;
  const unitsPerEm = file.readUInt16BE(head + 18);
  const scaled = (units: number) => Math.round((units * 1000) / unitsPerEm);
  const metrics = file.readUInt16BE(hhea + 34);
  const glyphOf = readCharacters(file, tables.get('cmap')!);
  const width = (code: number) => scaled(file.readUInt16BE(hmtx + 4 * Math.min(glyphOf(code), metrics - 1)));
  return {
    unitsPerEm,
    ascent: scaled(file.readInt16BE(hhea + 4)),
    descent: scaled(file.readInt16BE(hhea + 6)),
    box: [36, 38, 40, 42].map((offset) => scaled(file.readInt16BE(head + offset))),
    widths: Array.from({ length: 95 }, (_, index) => width(index + 32)),
  };
}

function readCharacters(file: Buffer, cmap: number): (code: number) => number {
  let table = 0;
  for (let entry = 0; entry < file.readUInt16BE(cmap + 2); entry += 1) {
    const at = cmap + 4 + entry * 8;
    const unicode = file.readUInt16BE(at) === 3 && file.readUInt16BE(at + 2) === 1;
    if (unicode) table = cmap + file.readUInt32BE(at + 4);
  }
  const doubled = file.readUInt16BE(table + 6);
  const ends = table + 14;
  const starts = ends + doubled + 2;
  const deltas = starts + doubled;
  const ranges = deltas + doubled;
  return (code) => {
    let segment = 0;
    while (file.readUInt16BE(ends + segment) < code) segment += 2;
    const start = file.readUInt16BE(starts + segment);
    if (start > code) return 0;
    const range = file.readUInt16BE(ranges + segment);
    const delta = file.readUInt16BE(deltas + segment);
    if (range === 0) return (code + delta) & 0xffff;
    return file.readUInt16BE(ranges + segment + range + 2 * (code - start));
  };
}
