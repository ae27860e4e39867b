/** The parts of a TrueType font program that tell whether a PDF describes its glyphs rightly. */
export interface TrueType {
  readonly glyphCount: number;
  /** Number of character maps. */
  readonly mapCount: number;
  /** Returns a glyph's advance in thousandths of the font size. */
  widthOf(glyph: number): number;
  /** Whether the program has an outline for a glyph. */
  hasOutline(glyph: number): boolean;
  /** Returns the glyph of a code by the character map of a platform and an encoding, if the font has that map. */
  mapOf(platform: number, encoding: number): ((code: number) => number) | undefined;
}

/** Reads a font program. @throws RangeError if it is damaged */
export function readTrueType(bytes: Buffer): TrueType {
  const tables = new Map<string, Buffer>();
  for (let index = 0, count = bytes.readUInt16BE(4); index < count; index += 1) {
    const at = 12 + index * 16;
    const offset = bytes.readUInt32BE(at + 8);
    const length = bytes.readUInt32BE(at + 12);
    tables.set(bytes.toString('latin1', at, at + 4), bytes.subarray(offset, offset + length));
  }
  const table = (name: string) => {
    const found = tables.get(name);
    if (!found) throw new RangeError(`The table ${name} is missing.`);
    return found;
  };
  const [head, hhea, maxp, hmtx, loca] = ['head', 'hhea', 'maxp', 'hmtx', 'loca'].map(table) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const unitsPerEm = head.readUInt16BE(18);
  const isLong = head.readInt16BE(50) === 1;
  const metrics = hhea.readUInt16BE(34);
  const glyphCount = maxp.readUInt16BE(4);
  const offsetOf = (glyph: number) =>
    isLong ? loca.readUInt32BE(glyph * 4) : loca.readUInt16BE(glyph * 2) * 2;
  if (unitsPerEm === 0 || metrics === 0) throw new RangeError('The font has no metrics.');
  return {
    glyphCount,
    mapCount: tables.get('cmap')?.readUInt16BE(2) ?? 0,
    widthOf: (glyph) => (hmtx.readUInt16BE(Math.min(glyph, metrics - 1) * 4) * 1000) / unitsPerEm,
    hasOutline: (glyph) => offsetOf(glyph + 1) > offsetOf(glyph),
    mapOf: (platform, encoding) => characterMap(tables.get('cmap'), platform, encoding),
  };
}

function characterMap(cmap: Buffer | undefined, platform: number, encoding: number) {
  if (!cmap) return undefined;
  for (let index = 0, count = cmap.readUInt16BE(2); index < count; index += 1) {
    const at = 4 + index * 8;
    if (cmap.readUInt16BE(at) !== platform || cmap.readUInt16BE(at + 2) !== encoding) continue;
    const map = cmap.subarray(cmap.readUInt32BE(at + 4));
    switch (map.readUInt16BE(0)) {
      case 0:
        return (code: number) => (code < 256 ? map.readUInt8(6 + code) : 0);
      case 4:
        return (code: number) => segmentGlyph(map, code);
      case 6:
        return (code: number) => {
          const from = code - map.readUInt16BE(6);
          return from >= 0 && from < map.readUInt16BE(8) ? map.readUInt16BE(10 + from * 2) : 0;
        };
      default:
        return undefined;
    }
  }
  return undefined;
}

/** Looks a code up in a map of format 4. */
function segmentGlyph(map: Buffer, code: number): number {
  const size = map.readUInt16BE(6);
  for (let at = 0; at < size; at += 2) {
    if (map.readUInt16BE(14 + at) < code) continue;
    const start = map.readUInt16BE(16 + size + at);
    if (start > code) return 0;
    const delta = map.readUInt16BE(16 + size * 2 + at);
    const offset = map.readUInt16BE(16 + size * 3 + at);
    if (offset === 0) return (code + delta) & 0xffff;
    const glyph = map.readUInt16BE(16 + size * 3 + at + offset + (code - start) * 2);
    return glyph === 0 ? 0 : (glyph + delta) & 0xffff;
  }
  return 0;
}
